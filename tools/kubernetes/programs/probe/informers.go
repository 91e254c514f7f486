package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// WatchList is on or off for a whole process: the gate is KUBE_FEATURE_WatchListClient in the environment.
var informerChecks = []check{
	{"shared informers" + watchLists() + ": what is there, what comes, what changes, what goes", informerLife},
	{"shared informers" + watchLists() + ": a resync returns every object again, unchanged", informerResync},
	{"dynamic informers" + watchLists() + ": custom resources by label", dynamicInformers},
}

func watchLists() string {
	if clientfeatures.FeatureGates().Enabled(clientfeatures.WatchListClient) {
		return " with watch lists"
	}
	return " with lists"
}

// counter counts the events that handlers got, by "event name".
type counter struct {
	sync.Mutex
	counts map[string]int
}

func (t *counter) add(event string, object any) {
	key, _ := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
	t.Lock()
	defer t.Unlock()
	t.counts[event+" "+key]++
}

func (t *counter) count(key string) int {
	t.Lock()
	defer t.Unlock()
	return t.counts[key]
}

func (t *counter) handler() cache.ResourceEventHandlerFuncs {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { t.add("add", object) },
		UpdateFunc: func(old, object any) {
			if old.(metav1.Object).GetResourceVersion() == object.(metav1.Object).GetResourceVersion() {
				t.add("resync", object)
			} else {
				t.add("update", object)
			}
		},
		DeleteFunc: func(object any) { t.add("delete", object) },
	}
}

func watchMaps(e *env, ctx context.Context, resync time.Duration) (*counter, cache.SharedIndexInformer, error) {
	factory := informers.NewSharedInformerFactoryWithOptions(e.client, resync, informers.WithNamespace(e.namespace))
	informer := factory.Core().V1().ConfigMaps().Informer()
	seen := &counter{counts: map[string]int{}}
	if _, err := informer.AddEventHandler(seen.handler()); err != nil {
		return nil, nil, err
	}
	byData := func(object any) ([]string, error) { return []string{object.(*corev1.ConfigMap).Data["a"]}, nil }
	if err := informer.AddIndexers(cache.Indexers{"a": byData}); err != nil {
		return nil, nil, err
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return nil, nil, fmt.Errorf("no sync")
	}
	return seen, informer, nil
}

func informerLife(e *env) error {
	maps := e.client.CoreV1().ConfigMaps(e.namespace)
	for _, name := range []string{"early", "gone"} {
		if _, err := maps.Create(e, configMap(name, nil), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancel(e)
	defer stop()
	seen, informer, err := watchMaps(e, ctx, 0)
	if err != nil {
		return err
	}
	if _, err := maps.Create(e, configMap("late", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	changed := configMap("early", nil)
	changed.Data["a"] = "2"
	if _, err := maps.Update(e, changed, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err := maps.Delete(e, "gone", metav1.DeleteOptions{}); err != nil {
		return err
	}
	for _, event := range []string{"add early", "add gone", "add late", "update early", "delete gone"} {
		var verb, name string
		_, _ = fmt.Sscan(event, &verb, &name)
		key := verb + " " + e.namespace + "/" + name
		if err := eventually(ctx, event, func() (bool, error) { return seen.count(key) == 1, nil }); err != nil {
			return err
		}
	}
	found, err := informer.GetIndexer().ByIndex("a", "2")
	if err != nil {
		return err
	}
	return expect(len(found) == 1, "%d found by index", len(found))
}

func informerResync(e *env) error {
	if _, err := e.client.CoreV1().ConfigMaps(e.namespace).Create(e, configMap("one", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(e)
	defer stop()
	// The reflector's own period cannot be less than a second.
	seen, _, err := watchMaps(e, ctx, time.Second)
	if err != nil {
		return err
	}
	return eventually(ctx, "two resyncs", func() (bool, error) { return seen.count("resync "+e.namespace+"/one") >= 2, nil })
}

func dynamicInformers(e *env) error {
	name := "informed"
	if watchLists() == " with lists" {
		name = "listed"
	}
	if err := install(e, name, nil); err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(e.config)
	if err != nil {
		return err
	}
	gadgets := client.Resource(gadgetsResource(name)).Namespace(e.namespace)
	ctx, stop := context.WithCancel(e)
	defer stop()
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, e.namespace, func(options *metav1.ListOptions) {
		options.LabelSelector = "watched=yes"
	})
	informer := factory.ForResource(gadgetsResource(name)).Informer()
	seen := &counter{counts: map[string]int{}}
	if _, err := informer.AddEventHandler(seen.handler()); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return fmt.Errorf("no sync")
	}
	object := unstructuredGadget(e, name, "one", 1)
	object.SetLabels(map[string]string{"watched": "yes"})
	if object, err = gadgets.Create(e, object, metav1.CreateOptions{}); err != nil {
		return err
	}
	object.SetLabels(map[string]string{"watched": "no"})
	if _, err = gadgets.Update(e, object, metav1.UpdateOptions{}); err != nil {
		return err
	}
	return eventually(ctx, "one add, one delete", func() (bool, error) {
		key := e.namespace + "/one"
		return seen.count("add "+key) == 1 && seen.count("delete "+key) == 1, nil
	})
}

var resumeChecks = []check{
	{"a reflector" + watchLists() + " continues after the server's restart, without a gap and without a second add", resume},
}

func resume(e *env) error {
	maps := e.client.CoreV1().ConfigMaps(e.namespace)
	for i := range 3 {
		if _, err := maps.Create(e, configMap(fmt.Sprintf("before-%d", i), nil), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancel(e)
	defer stop()
	seen, _, err := watchMaps(e, ctx, 0)
	if err != nil {
		return err
	}
	fmt.Println("watching")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	err = eventually(ctx, "a write after the restart", func() (bool, error) {
		_, err := maps.Create(ctx, configMap("after", nil), metav1.CreateOptions{})
		return err == nil, err
	})
	if err != nil {
		return err
	}
	if err := maps.Delete(e, "before-0", metav1.DeleteOptions{}); err != nil {
		return err
	}
	for _, event := range []string{"add before-0", "add before-1", "add before-2", "add after", "delete before-0"} {
		var verb, name string
		_, _ = fmt.Sscan(event, &verb, &name)
		key := verb + " " + e.namespace + "/" + name
		if err := eventually(ctx, event, func() (bool, error) { return seen.count(key) > 0, nil }); err != nil {
			return err
		}
		if err := expect(seen.count(key) == 1, "%s %d times", event, seen.count(key)); err != nil {
			return err
		}
	}
	return nil
}
