package governor

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// PolicyTemplate returns a policy file with every key, its value in the preset
// and a line that explains it. Parsed, it is exactly the preset. A name that is
// no preset means the default one.
func PolicyTemplate(preset string) string {
	p, err := Preset(preset)
	if err != nil {
		preset, p = Presets()[0], DefaultPolicy()
	}
	var b strings.Builder
	b.WriteString("# Policy of browser-governor. Every key is here with its value; what you delete\n")
	b.WriteString("# keeps the value of the preset. Check it with: browser-governor policy check FILE\n")
	b.WriteString("# Rates are written 12/minute, 1/second, 500/hour; durations 2.5s, 500ms, 2m.\n\n")
	fmt.Fprintf(&b, "# where keys that are left out come from: %s\npreset: %s\n", oneOf(Presets()), preset)
	section := ""
	for _, s := range settings() {
		in, key, nested := strings.Cut(s.path, ".")
		if !nested {
			in, key = "", s.path
		}
		if s.path == "i_accept" {
			b.WriteString(hostsTemplate())
		}
		if in != section || in == "" {
			b.WriteByte('\n')
		}
		if in != section && in != "" {
			fmt.Fprintf(&b, "%s:\n", in)
		}
		section = in
		indent := ""
		if nested {
			indent = "  "
		}
		fmt.Fprintf(&b, "%s# %s\n%s%s: %s\n", indent, s.doc, indent, key, s.literal(&p))
	}
	return b.String()
}

// hostsTemplate is the part of the template with the exceptions, all of them
// comments but the empty list.
func hostsTemplate() string {
	var b strings.Builder
	b.WriteString("\n# exceptions for hosts; the first that matches counts, and what it leaves out is as above\n")
	b.WriteString("# hosts:\n")
	for i, s := range ruleSettings() {
		in, key, nested := strings.Cut(s.path, ".")
		lead := "    "
		if i == 0 {
			lead = "  - "
		}
		switch {
		case !nested:
			key = in
		case key == "rate":
			fmt.Fprintf(&b, "# %s%s:\n", lead, in)
			lead += "  "
		default:
			lead += "  "
		}
		fmt.Fprintf(&b, "# %-28s # %s\n", lead+key+": "+ruleExample(s.path), s.doc)
	}
	b.WriteString("hosts: []\n")
	return b.String()
}

// ruleExample returns a value to show in the template.
func ruleExample(path string) string {
	switch {
	case path == "match":
		return "shop.example"
	case path == "deny":
		return "false"
	case strings.HasSuffix(path, ".rate"):
		return "6/minute"
	case strings.HasSuffix(path, ".burst"):
		return "1"
	}
	return "100"
}

// literal returns the value as YAML.
func (s *setting) literal(p *Policy) string {
	v := s.get(p)
	if !s.list {
		return yamlQuoted(v)
	}
	if v == "" {
		return "[]"
	}
	elements := strings.Split(v, ",")
	for i, e := range elements {
		elements[i] = yamlQuoted(e)
	}
	return "[" + strings.Join(elements, ", ") + "]"
}

// yamlQuoted returns a text as YAML, in quotes unless it is plainly not needed.
func yamlQuoted(s string) string {
	if ok, _ := regexp.MatchString(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`, s); ok {
		return s
	}
	return strconv.Quote(s)
}

// PolicyReference returns a Markdown document with every key, what may stand
// there, its value in each preset and its environment variable.
func PolicyReference() string {
	var b strings.Builder
	b.WriteString(`# Policy reference

A policy is a YAML file. ` + "`browser-governor policy init`" + ` writes one with every key explained,
` + "`browser-governor policy check FILE`" + ` says what is wrong with one, with line and column. Unknown keys are errors.

Each key can also be set by its environment variable and by ` + "`--set KEY=VALUE`" + `; a flag beats the environment,
the environment beats the file. Rates are written ` + "`12/minute`, `0.5/s`, `500/hour`, `20/day` or `1 per 5s`" + `, durations
` + "`2.5s`, `500ms`, `2m`" + `. In variables and flags the elements of a list are parted by commas.

` + "`preset: NAME`" + ` in the file chooses where keys that are left out come from:

| preset | for |
|---|---|
| ` + "`polite`" + ` | the default |
| ` + "`careful`" + ` | small or unknown sites: half the pace, less than half the budget |
| ` + "`harness`" + ` | tests of your own site on this machine: fast, no jitter, no caps, no robots.txt on loopback hosts |

Without ` + "`agent.contact`" + ` only loopback hosts are visited. Switching a protection off (` + "`robots.mode: warn` or `off`, `\"*\"` in `robots.skip_hosts`, `identity: off`" + `)
takes the second key in ` + "`i_accept`" + ` and is written to the log.

## Keys

| key | value | polite | careful | harness | what it is |
|---|---|---|---|---|---|
`)
	for _, s := range settings() {
		fmt.Fprintf(&b, "| `%s` | %s |", s.path, tableCell(s.values))
		for _, name := range Presets() {
			p, _ := Preset(name) // every name in Presets is one
			fmt.Fprintf(&b, " `%s` |", s.literal(&p))
		}
		fmt.Fprintf(&b, " %s |\n", tableCell(s.doc))
	}
	b.WriteString(policyWhere)
	b.WriteString("\n## Exceptions for hosts\n\n`hosts` is a list; the first entry that matches counts, and what it leaves out is as above. " +
		"In variables and flags it is\nwritten as in YAML: `[{match: shop.example, deny: true}]`.\n\n| key | value | what it is |\n|---|---|---|\n")
	for _, s := range ruleSettings() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.path, tableCell(s.values), tableCell(s.doc))
	}
	b.WriteString("\n## Environment variables\n\nThe name is `" + envPrefix + "` and the key in capitals, with `_` for the dots:\n\n| variable | key |\n|---|---|\n")
	for _, s := range settings() {
		fmt.Fprintf(&b, "| `%s` | `%s` |\n", EnvName(s.path), s.path)
	}
	fmt.Fprintf(&b, "| `%s` | `hosts` |\n", EnvName("hosts"))
	return b.String()
}

// policyWhere explains the keys that say where a browser may go.
const policyWhere = `
## Where a browser may go

A pattern is a host on any port (` + "`shop.example`" + `), a host on one port (` + "`127.0.0.1:8080`, `shop.example:8443`" + `; 80 and 443 are
the schemes' own and not written), every name below one (` + "`*.shop.example`" + `, with ` + "`shop.example`" + ` itself not among them) or ` + "`*`" + `.

- ` + "`navigations.*`" + ` is asked for every document of a tab or popup, whatever leads there (an address, a link, a form, a
  script, the history), again for each redirect, and for the robots.txt of such a document. A download is asked here, too, when
  a link or an address leads to it.
- ` + "`subresources.*`" + ` is asked for all that pages load, again for each redirect. Frames are part of their page and are
  asked here, and so are WebSockets, workers and what scripts fetch.
- ` + "`deny`" + ` wins over ` + "`allow`" + `. An ` + "`allow`" + ` that names anything allows nothing else; an empty one allows every host.
- A host with ` + "`deny: true`" + ` in ` + "`hosts`" + ` is refused everything, clicks on its pages included.
- ` + "`schemes`" + ` holds for what is opened and loaded. ` + "`view-source:`" + ` is judged as what it shows. ` + "`javascript:`" + ` asks nobody; what
  the script then asks for is judged.
- ` + "`deny`" + ` at the top refuses whole kinds of action on every host. The fetch of a robots.txt is no sub-resource in this sense.
- ` + "`deny: [upload]`" + ` refuses the commands that give files of this machine to a page: ` + "`DOM.setFileInputFiles`, `Page.handleFileChooser`" + `
  and ` + "`Input.dispatchDragEvent`" + ` with files. It does not see a file that a client builds inside the page from bytes it sends
  as script (as clients do with files given as bytes), nor a form that posts it.
- ` + "`deny: [download]`" + ` refuses the answer to a document's request that Chrome would save (` + "`Content-Disposition: attachment`" + `, a type it
  cannot show) before its body is read; the request itself was made and counted. Links with the attribute ` + "`download`" + `, ` + "`blob:` and `data:`" + `
  addresses, and answers without a type are not held back by it yet.

A refusal names what decided: ` + "`navigations.deny \"*.example\" (policy.yaml line 12)`" + `. The line is left out for what stands in
no file.
`

// tableCell makes a text fit into a table.
func tableCell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
