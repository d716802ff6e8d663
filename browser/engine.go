package browser

import (
	"context"
	"errors"
)

// A Supervisor is what the endpoint serves.
var _ engine = (*Supervisor)(nil)

func (s *Supervisor) version(ctx context.Context) (versionInfo, error) {
	b, err := s.Browser(ctx)
	if err != nil {
		return versionInfo{}, err
	}
	v := b.versionInfo()
	v.BrowserID = s.id
	return v, nil
}

func (s *Supervisor) targets(ctx context.Context) ([]targetInfo, error) {
	b, err := s.Browser(ctx)
	if err != nil {
		return nil, err
	}
	return b.targets(ctx)
}

func (s *Supervisor) newTab(ctx context.Context, rawURL, client string) (targetInfo, error) {
	b, err := s.Browser(ctx)
	if err != nil {
		return targetInfo{}, err
	}
	return b.newTab(ctx, rawURL, client)
}

func (s *Supervisor) activate(ctx context.Context, id string) error {
	b, err := s.Browser(ctx)
	if err != nil {
		return err
	}
	return b.activate(ctx, id)
}

func (s *Supervisor) closeTarget(ctx context.Context, id string) error {
	b, err := s.Browser(ctx)
	if err != nil {
		return err
	}
	return b.closeTarget(ctx, id)
}

// protocol is the same for the life of the program, so it is asked once.
func (s *Supervisor) protocol(ctx context.Context) ([]byte, error) {
	s.mu.Lock()
	have := s.protocolJSON
	s.mu.Unlock()
	if have != nil {
		return have, nil
	}
	b, err := s.Browser(ctx)
	if err != nil {
		return nil, err
	}
	p, err := b.protocol(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.protocolJSON = p
	s.mu.Unlock()
	return p, nil
}

// connect waits for the next Chrome when this one ends meanwhile: clients come
// back at once when they lose their connection.
func (s *Supervisor) connect(ctx context.Context, info connInfo) (clientConn, error) {
	for {
		b, err := s.Browser(ctx)
		if err != nil {
			return nil, err
		}
		c, err := b.connect(ctx, info)
		if !errors.Is(err, errWireClosed) {
			return c, err
		}
		select {
		case <-b.life.Done():
		case <-ctx.Done():
			return nil, err
		}
	}
}
