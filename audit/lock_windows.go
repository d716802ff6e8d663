package audit

import (
	"os"
	"syscall"
)

// lockExclusive opens path so that others may read it but not open it for
// writing until the file is closed or the process ends.
func lockExclusive(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	const sharingViolation = syscall.Errno(32) // ERROR_SHARING_VIOLATION
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE,
		syscall.FILE_SHARE_READ, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	switch {
	case err == sharingViolation:
		return nil, errLocked
	case err != nil:
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// syncDir does nothing: Windows keeps names safe by itself and cannot sync a
// folder.
func syncDir(string) error { return nil }
