package main

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

const (
	asJSON  = "application/json"
	asApply = "application/apply-patch+yaml"
)

// call is one request of a client; n counts the client's own calls.
type call func(c *Client, client, n int) error

// during has every client call again and again until the time is up.
func during(s Settings, prepare, run call) (Result, error) {
	clients := make([]*Client, s.clients)
	for i := range clients {
		clients[i] = s.server.client()
		if err := prepare(clients[i], i, 0); err != nil {
			return Result{}, err
		}
	}
	var group sync.WaitGroup
	latencies := make([][]time.Duration, s.clients)
	problems := make([]error, s.clients)
	start := time.Now()
	end := start.Add(time.Duration(s.seconds * float64(time.Second)))
	for i, client := range clients {
		group.Add(1)
		go func() {
			defer group.Done()
			for n := 0; time.Now().Before(end) && problems[i] == nil; n++ {
				begun := time.Now()
				problems[i] = run(client, i, n)
				latencies[i] = append(latencies[i], time.Since(begun))
			}
		}()
	}
	group.Wait()
	took := time.Since(start)
	var all []time.Duration
	for i := range clients {
		if problems[i] != nil {
			return Result{}, problems[i]
		}
		all = append(all, latencies[i]...)
	}
	return summed(all, took), nil
}

func configMaps(s Settings) string { return "/api/v1/namespaces/" + s.namespace + "/configmaps" }

func configMap(name string, size, n int) []byte {
	const form = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"labels":{"app":"load"}},"data":{"serial":"%d","pad":%q}}`
	return fmt.Appendf(nil, form, name, n, strings.Repeat("x", size))
}

// own makes the object that a client works on; it may be there from an earlier run.
func own(s Settings) call {
	return func(c *Client, client, _ int) error {
		name := fmt.Sprintf("own-%d", client)
		path := configMaps(s) + "/" + name + "?fieldManager=load&force=true"
		_, err := c.do("PATCH", path, asApply, configMap(name, s.size, -1))
		return err
	}
}

func create(s Settings) (Result, error) {
	ready := func(c *Client, _, _ int) error {
		_, err := c.do("GET", configMaps(s)+"?limit=1", "", nil)
		return err
	}
	return during(s, ready, func(c *Client, client, n int) error {
		_, err := c.do("POST", configMaps(s), asJSON, configMap(fmt.Sprintf("new-%d-%d-%d", s.first, client, n), s.size, n))
		return err
	})
}

func get(s Settings) (Result, error) {
	return during(s, own(s), func(c *Client, client, _ int) error {
		_, err := c.do("GET", fmt.Sprintf("%s/own-%d", configMaps(s), client), "", nil)
		return err
	})
}

func update(s Settings) (Result, error) {
	return during(s, own(s), func(c *Client, client, n int) error {
		name := fmt.Sprintf("own-%d", client)
		_, err := c.do("PUT", configMaps(s)+"/"+name, asJSON, configMap(name, s.size, s.first+n))
		return err
	})
}

const deployment = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":%[1]q,"labels":{"app":"load"},"annotations":{"serial":"%[2]d"}},
"spec":{"replicas":0,"selector":{"matchLabels":{"app":%[1]q}},"template":{"metadata":{"labels":{"app":%[1]q}},"spec":{"containers":[
{"name":"main","image":"example.com/image:1","ports":[{"containerPort":80,"name":"http"}],"env":[{"name":"SERIAL","value":"%[2]d"},{"name":"A","value":"b"}],
"resources":{"requests":{"cpu":"100m","memory":"64Mi"}},"volumeMounts":[{"name":"data","mountPath":"/data"}]},
{"name":"side","image":"example.com/side:1","args":["--one","--two"]}],"volumes":[{"name":"data","emptyDir":{}}]}}}}`

// apply changes a Deployment by server-side apply.
func apply(s Settings) (Result, error) {
	run := func(c *Client, client, n int) error {
		name := fmt.Sprintf("own-%d", client)
		path := fmt.Sprintf("/apis/apps/v1/namespaces/%s/deployments/%s?fieldManager=load&force=true", s.namespace, name)
		_, err := c.do("PATCH", path, asApply, fmt.Appendf(nil, deployment, name, s.first+n))
		return err
	}
	return during(s, run, func(c *Client, client, n int) error { return run(c, client, n+1) })
}

// fill makes so many objects, as fast as the clients together can.
func fill(s Settings) (Result, error) {
	var group sync.WaitGroup
	problems := make([]error, s.clients)
	start := time.Now()
	for i := range s.clients {
		group.Add(1)
		go func() {
			defer group.Done()
			client := s.server.client()
			for n := i; n < s.objects && problems[i] == nil; n += s.clients {
				name := fmt.Sprintf("object-%06d", s.first+n)
				_, problems[i] = client.do("POST", configMaps(s), asJSON, configMap(name, s.size, n))
			}
		}()
	}
	group.Wait()
	for _, err := range problems {
		if err != nil {
			return Result{}, err
		}
	}
	return Result{Calls: s.objects, Seconds: time.Since(start).Seconds()}, nil
}
