package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"time"
)

const (
	perConnection = 10
	timeLimit     = 30 * time.Second
)

// fanout opens watches on a collection, then writes one object so many times, and measures from the sending of each
// write until each watch has its event. At its end it says so on standard error and keeps the watches open for so many
// seconds, so that the server's memory can be read.
func fanout(s Settings) (Result, error) {
	arrived := make(chan time.Time, 4*s.watches)
	var client *Client
	for i := range s.watches {
		if i%perConnection == 0 {
			client = s.server.client()
		}
		path := configMaps(s) + "?watch=1&resourceVersion=0"
		response, err := client.open("GET", path, "", nil)
		if err != nil {
			return Result{}, err
		}
		go follow(response, arrived)
	}
	writer := s.server.client()
	if err := own(s)(writer, 0, 0); err != nil {
		return Result{}, err
	}
	time.Sleep(500 * time.Millisecond)
	for len(arrived) > 0 {
		<-arrived
	}
	var latencies []time.Duration
	start := time.Now()
	for n := range s.objects {
		begun := time.Now()
		name := "own-0"
		if _, err := writer.do("PUT", configMaps(s)+"/"+name, asJSON, configMap(name, s.size, s.first+n)); err != nil {
			return Result{}, err
		}
		for range s.watches {
			select {
			case at := <-arrived:
				latencies = append(latencies, at.Sub(begun))
			case <-time.After(timeLimit):
				return Result{}, fmt.Errorf("write %d: not every watch had its event in %s", n, timeLimit)
			}
		}
	}
	took := time.Since(start)
	fmt.Fprintln(os.Stderr, "watching")
	time.Sleep(time.Duration(s.seconds * float64(time.Second)))
	return summed(latencies, took), nil
}

// follow returns the time of every event of the object that is written.
func follow(response *http.Response, arrived chan<- time.Time) {
	defer response.Body.Close()
	lines := bufio.NewReaderSize(response.Body, 16*1024)
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return
		}
		if bytes.Contains(line, []byte(`"name":"own-0"`)) {
			arrived <- time.Now()
		}
	}
}
