package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
)

// Files are the PEM files of an identity.
type Files struct{ ca, certificate, key string }

// Server makes clients of one API server.
type Server struct {
	url         string
	roots       *x509.CertPool
	certificate tls.Certificate
}

func newServer(url string, files Files) (*Server, error) {
	ca, err := os.ReadFile(files.ca)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("%s holds no certificate", files.ca)
	}
	certificate, err := tls.LoadX509KeyPair(files.certificate, files.key)
	if err != nil {
		return nil, err
	}
	return &Server{url: url, roots: roots, certificate: certificate}, nil
}

// Client has a connection of its own.
type Client struct {
	url  string
	http *http.Client
	body bytes.Buffer
}

func (s *Server) client() *Client {
	transport := &http.Transport{
		TLSClientConfig:    &tls.Config{RootCAs: s.roots, Certificates: []tls.Certificate{s.certificate}},
		ForceAttemptHTTP2:  true,
		DisableCompression: true,
	}
	return &Client{url: s.url, http: &http.Client{Transport: transport}}
}

// open sends a request and answers the response, whose body the caller closes. A code of 300 or more is an error.
func (c *Client) open(method, path, contentType string, body []byte) (*http.Response, error) {
	request, err := http.NewRequest(method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", contentType)
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "load/1")
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode < 300 {
		return response, nil
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, 2000))
	return nil, fmt.Errorf("%s %s: %d %s", method, path, response.StatusCode, text)
}

// do sends a request and reads the whole answer, which is valid until the next call.
func (c *Client) do(method, path, contentType string, body []byte) ([]byte, error) {
	response, err := c.open(method, path, contentType, body)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	c.body.Reset()
	_, err = c.body.ReadFrom(response.Body)
	return c.body.Bytes(), err
}
