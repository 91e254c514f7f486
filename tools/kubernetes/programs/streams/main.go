// The part of a kubelet that serves exec and port-forward, with the kubelet's own code: commands run as processes of
// this machine, and ports are those of 127.0.0.1. Usage: streams ADDRESS:PORT
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	protocols "k8s.io/apimachinery/pkg/util/remotecommand"
	remote "k8s.io/client-go/tools/remotecommand"
	"k8s.io/kubelet/pkg/cri/streaming/portforward"
	"k8s.io/kubelet/pkg/cri/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

const (
	idle     = 4 * time.Hour
	creation = 30 * time.Second
)

type node struct{}

func (node) ExecInContainer(ctx context.Context, _ string, _ types.UID, _ string, cmd []string, in io.Reader, out, errs io.WriteCloser, _ bool, _ <-chan remote.TerminalSize, _ time.Duration) error {
	command := exec.CommandContext(ctx, cmd[0], cmd[1:]...)
	command.Stdin = in
	if out != nil {
		command.Stdout = out
	}
	if errs != nil {
		command.Stderr = errs
	}
	err := command.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return utilexec.CodeExitError{Err: err, Code: ended.ExitCode()}
	}
	return err
}

func (node) PortForward(_ context.Context, _ string, _ types.UID, port int32, stream io.ReadWriteCloser) error {
	connection, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	defer connection.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(stream, connection)
	}()
	_, _ = io.Copy(connection, stream)
	_ = connection.(*net.TCPConn).CloseWrite()
	<-done
	return nil
}

func serve(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch parts[0] {
	case "exec":
		options, err := remotecommand.NewOptions(r)
		if err != nil || len(parts) < 4 {
			http.Error(w, "no such container", http.StatusBadRequest)
			return
		}
		remotecommand.ServeExec(w, r, node{}, parts[2], "", parts[3], r.URL.Query()["command"], options, idle, creation,
			protocols.SupportedStreamingProtocols)
	case "portForward":
		options, err := portforward.NewV4Options(r)
		if err != nil || len(parts) < 3 {
			http.Error(w, "no such pod", http.StatusBadRequest)
			return
		}
		portforward.ServePortForward(w, r, node{}, parts[2], "", options, idle, creation, portforward.SupportedProtocols)
	default:
		http.NotFound(w, r)
	}
}

func main() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	certificate := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	// SPDY upgrades a connection of HTTP/1.1.
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"http/1.1"}}
	listener, err := tls.Listen("tcp", os.Args[1], config)
	if err != nil {
		panic(err)
	}
	fmt.Println("serving streams")
	panic(http.Serve(listener, http.HandlerFunc(serve)))
}
