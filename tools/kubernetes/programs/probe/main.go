// Command probe uses an API server as programs built on client-go and controller-runtime do, and prints a line for each
// thing it tried: "ok NAME" or "FAILED NAME: why", with what it noted in square brackets. It ends with 1 when something
// failed.
//
//	probe -kubeconfig FILE [-group NAME] [-list]
//
// The flag -kubeconfig is controller-runtime's. The group "resume" waits for a line on standard input after it printed
// "watching": the time to restart the server.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// env is what a check works with: a namespace of its own, and ways to say things.
type env struct {
	context.Context
	config    *rest.Config
	client    *kubernetes.Clientset
	namespace string
	notes     []string
}

func (e *env) note(format string, args ...any) {
	e.notes = append(e.notes, fmt.Sprintf(format, args...))
}

type check struct {
	name string
	run  func(*env) error
}

var groups = []struct {
	name   string
	checks []check
}{
	{"typed", typedChecks},
	{"generic", genericChecks},
	{"informers", informerChecks},
	{"election", electionChecks},
	{"access", accessChecks},
	{"manager", managerChecks},
	{"webhooks", webhookChecks},
	{"resume", resumeChecks},
}

const timeLimit = 60 * time.Second

func main() {
	only := flag.String("group", "", "the group of checks to run; all but resume otherwise")
	list := flag.Bool("list", false, "print the names of the checks")
	flag.Parse()
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
	var config *rest.Config
	if !*list {
		var err error
		if config, err = ctrl.GetConfig(); err != nil {
			fmt.Println("FAILED kubeconfig:", err)
			os.Exit(1)
		}
		config.QPS, config.Burst = 500, 1000
	}
	failed := false
	for _, group := range groups {
		if *only != group.name && (*only != "" || group.name == "resume") {
			continue
		}
		for i, check := range group.checks {
			if *list {
				fmt.Println(check.name)
				continue
			}
			failed = !perform(config, fmt.Sprintf("probe-%s-%d-%d", group.name, i, os.Getpid()), check) || failed
		}
	}
	if failed {
		os.Exit(1)
	}
}

func perform(config *rest.Config, namespace string, c check) (ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), timeLimit)
	defer cancel()
	e := &env{Context: ctx, config: config, client: kubernetes.NewForConfigOrDie(config), namespace: namespace}
	err := func() (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("panic: %v", r)
			}
		}()
		space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
		if _, err := e.client.CoreV1().Namespaces().Create(ctx, space, metav1.CreateOptions{}); err != nil {
			return err
		}
		return c.run(e)
	}()
	if err != nil {
		fmt.Printf("FAILED %s: %s\n", c.name, strings.ReplaceAll(err.Error(), "\n", " "))
		return false
	}
	notes := ""
	if len(e.notes) > 0 {
		notes = " [" + strings.Join(e.notes, "; ") + "]"
	}
	fmt.Printf("ok %s%s\n", c.name, notes)
	return true
}

// expect returns an error with what was not as it should be.
func expect(holds bool, format string, args ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// eventually tries until the function is content, or the time of the check is over.
func eventually(ctx context.Context, what string, try func() (bool, error)) error {
	var last error
	for {
		done, err := try()
		if done && err == nil {
			return nil
		}
		if err != nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not in time: %s (%v)", what, last)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
