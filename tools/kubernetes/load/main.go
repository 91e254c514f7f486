// Command load puts one kind of load on a Kubernetes API server and prints what it measured as one JSON object.
//
//	load -url URL -ca FILE -cert FILE -key FILE [-clients N] [-seconds S] ... MODE
//
// Every client is a program of its own in the server's eyes: a connection of its own (HTTP/2, as client-go's), one
// request at a time.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sort"
	"time"
)

// Settings are the flags that the modes share.
type Settings struct {
	server    *Server
	clients   int
	seconds   float64
	objects   int
	size      int
	limit     int
	watches   int
	namespace string
	first     int
}

// Result is what a mode prints. Latencies are in milliseconds, Seconds is the time all calls took together.
type Result struct {
	Calls   int     `json:"calls"`
	Seconds float64 `json:"seconds"`
	P50     float64 `json:"p50"`
	P99     float64 `json:"p99"`
}

var modes = map[string]func(Settings) (Result, error){
	"create": create,
	"get":    get,
	"update": update,
	"apply":  apply,
	"fill":   fill,
	"list":   list,
	"fanout": fanout,
}

func main() {
	var files Files
	var s Settings
	url := flag.String("url", "", "base URL of the API server")
	flag.StringVar(&files.ca, "ca", "", "PEM of whom to trust")
	flag.StringVar(&files.certificate, "cert", "", "PEM of the client certificate")
	flag.StringVar(&files.key, "key", "", "PEM of its key")
	flag.IntVar(&s.clients, "clients", 1, "clients at once")
	flag.Float64Var(&s.seconds, "seconds", 3, "how long")
	flag.IntVar(&s.objects, "objects", 0, "objects that fill makes; lists or writes to make")
	flag.IntVar(&s.size, "size", 1000, "bytes of data in each object")
	flag.IntVar(&s.limit, "limit", 0, "page size of lists; 0 lists whole")
	flag.IntVar(&s.watches, "watches", 0, "watches of fanout, ten to a connection")
	flag.StringVar(&s.namespace, "namespace", "default", "where")
	flag.IntVar(&s.first, "first", 0, "number of the first object, so that runs do not collide")
	flag.Parse()
	mode := modes[flag.Arg(0)]
	if mode == nil {
		fail(fmt.Errorf("no such mode: %q", flag.Arg(0)))
	}
	server, err := newServer(*url, files)
	if err != nil {
		fail(err)
	}
	s.server = server
	result, err := mode(s)
	if err != nil {
		fail(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// summed makes a result of latencies, which it sorts.
func summed(latencies []time.Duration, all time.Duration) Result {
	sort.Slice(latencies, func(i, j int) bool { return latencies[i] < latencies[j] })
	at := func(share float64) float64 {
		if len(latencies) == 0 {
			return 0
		}
		return latencies[int(share*float64(len(latencies)-1))].Seconds() * 1000
	}
	return Result{Calls: len(latencies), Seconds: all.Seconds(), P50: at(0.50), P99: at(0.99)}
}
