package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/test/e2e/framework"
)

// machines are the servers of one group, which the harness makes and deletes: GET / names them, PUT /?size=N brings the
// group to that size, DELETE /NAME takes one away.
type machines struct {
	framework.NullProvider
	at string
}

func (m machines) DeleteNode(node *v1.Node) error {
	_, err := m.ask(http.MethodDelete, "/"+node.Name)
	return err
}

func (m machines) ResizeGroup(_ string, size int32) error {
	_, err := m.ask(http.MethodPut, fmt.Sprintf("/?size=%d", size))
	return err
}

func (m machines) GetGroupNodes(string) ([]string, error) { return m.ask(http.MethodGet, "/") }

func (m machines) GroupSize(group string) (int, error) {
	names, err := m.GetGroupNodes(group)
	return len(names), err
}

func (m machines) ask(method, path string) ([]string, error) {
	request, err := http.NewRequest(method, strings.TrimSuffix(m.at, "/")+path, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s %s: %s", method, path, answer.Status)
	}
	var names []string
	return names, json.NewDecoder(answer.Body).Decode(&names)
}
