package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"time"
)

// list reads the whole collection so many times, in pages if there is a limit.
func list(s Settings) (Result, error) {
	client := s.server.client()
	var latencies []time.Duration
	start := time.Now()
	for range s.objects {
		begun := time.Now()
		if err := listOnce(client, s); err != nil {
			return Result{}, err
		}
		latencies = append(latencies, time.Since(begun))
	}
	return summed(latencies, time.Since(start)), nil
}

func listOnce(c *Client, s Settings) error {
	next := ""
	for {
		path := fmt.Sprintf("%s?limit=%d&continue=%s", configMaps(s), s.limit, url.QueryEscape(next))
		body, err := c.do("GET", path, "", nil)
		if err != nil {
			return err
		}
		if next = continueOf(body); next == "" {
			return nil
		}
	}
}

// continueOf finds the token without reading the items: it is in the list's own metadata, before or after them.
func continueOf(body []byte) string {
	marker := []byte(`"continue":`)
	at := bytes.Index(body, marker)
	if at < 0 {
		return ""
	}
	var token string
	rest := body[at+len(marker):]
	if end := bytes.IndexByte(rest[1:], '"'); end < 0 || json.Unmarshal(rest[:end+2], &token) != nil {
		return ""
	}
	return token
}
