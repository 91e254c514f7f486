package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	acappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	accorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	acmetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/retry"
)

var typedChecks = []check{
	{"typed client: create, get, list, update, watch and delete", typedLife},
	{"typed client: a conflict is returned, and retry.RetryOnConflict gets through", typedConflict},
	{"typed client: the four kinds of patch", typedPatches},
	{"typed client: apply configurations, conflict, force and extraction", typedApply},
	{"typed client: dry run, preconditions and generated names", typedOptions},
	{"pager: pages of ten, complete and at one revision", typedPager},
	{"typed client: delete a collection by label", typedCollection},
	{"recorder: events are made and counted", typedEvents},
	{"protobuf requested and sent: reads, writes, watches and refusals", typedProtobuf},
}

func configMap(name string, labels map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Data: map[string]string{"a": "1"}}
}

func typedLife(e *env) error { return life(e, e.client) }

func life(e *env, client kubernetes.Interface) error {
	maps := client.CoreV1().ConfigMaps(e.namespace)
	made, err := maps.Create(e, configMap("one", nil), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	events, err := maps.Watch(e, metav1.ListOptions{ResourceVersion: made.ResourceVersion})
	if err != nil {
		return err
	}
	defer events.Stop()
	got, err := maps.Get(e, "one", metav1.GetOptions{})
	if err != nil {
		return err
	}
	got.Data["b"] = "2"
	updated, err := maps.Update(e, got, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	all, err := maps.List(e, metav1.ListOptions{FieldSelector: "metadata.name=one"})
	if err != nil {
		return err
	}
	if err := expect(len(all.Items) == 1 && all.Items[0].ResourceVersion == updated.ResourceVersion, "list gave %v", all.Items); err != nil {
		return err
	}
	if err := maps.Delete(e, "one", metav1.DeleteOptions{}); err != nil {
		return err
	}
	if _, err = maps.Get(e, "one", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return fmt.Errorf("not gone: %v", err)
	}
	for _, want := range []watch.EventType{watch.Modified, watch.Deleted} {
		select {
		case event := <-events.ResultChan():
			if got, is := event.Object.(*corev1.ConfigMap); !is || event.Type != want || got.Data["b"] != "2" {
				return fmt.Errorf("wanted %s, got %s %T", want, event.Type, event.Object)
			}
		case <-time.After(10 * time.Second):
			return fmt.Errorf("no event %s", want)
		}
	}
	return nil
}

func typedConflict(e *env) error {
	maps := e.client.CoreV1().ConfigMaps(e.namespace)
	old, err := maps.Create(e, configMap("one", nil), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	newer := old.DeepCopy()
	newer.Data["b"] = "2"
	if _, err = maps.Update(e, newer, metav1.UpdateOptions{}); err != nil {
		return err
	}
	old.Data["c"] = "3"
	if _, err = maps.Update(e, old, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		return fmt.Errorf("wanted a conflict, got %v", err)
	}
	tries, current := 0, old
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		tries++
		current.Data["c"] = "3"
		_, err := maps.Update(e, current, metav1.UpdateOptions{})
		if err != nil {
			current, _ = maps.Get(e, "one", metav1.GetOptions{})
		}
		return err
	})
	if err != nil {
		return err
	}
	return expect(tries == 2, "%d tries", tries)
}

func typedPatches(e *env) error {
	deployments := e.client.AppsV1().Deployments(e.namespace)
	if _, err := deployments.Create(e, deployment("web"), metav1.CreateOptions{}); err != nil {
		return err
	}
	strategic := `{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"side:1"}]}}}}`
	got, err := deployments.Patch(e, "web", types.StrategicMergePatchType, []byte(strategic), metav1.PatchOptions{})
	if err != nil {
		return err
	}
	if err := expect(len(got.Spec.Template.Spec.Containers) == 2, "strategic: %d containers", len(got.Spec.Template.Spec.Containers)); err != nil {
		return err
	}
	got, err = deployments.Patch(e, "web", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
	if err != nil {
		return err
	}
	if err := expect(got.Labels["a"] == "b", "merge: %v", got.Labels); err != nil {
		return err
	}
	jsonPatch := `[{"op":"test","path":"/spec/replicas","value":1},{"op":"replace","path":"/spec/replicas","value":3}]`
	got, err = deployments.Patch(e, "web", types.JSONPatchType, []byte(jsonPatch), metav1.PatchOptions{})
	if err != nil {
		return err
	}
	if err := expect(*got.Spec.Replicas == 3 && got.Generation == 3, "json: %d replicas, generation %d", *got.Spec.Replicas, got.Generation); err != nil {
		return err
	}
	apply := `{"apiVersion":"apps/v1","kind":"Deployment","spec":{"minReadySeconds":7}}`
	got, err = deployments.Patch(e, "web", types.ApplyPatchType, []byte(apply), metav1.PatchOptions{FieldManager: "probe"})
	if err != nil {
		return err
	}
	return expect(got.Spec.MinReadySeconds == 7, "apply: %d", got.Spec.MinReadySeconds)
}

func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	one := int32(1)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: &one,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "main:1"}}},
			},
		},
	}
}

func typedApply(e *env) error {
	deployments := e.client.AppsV1().Deployments(e.namespace)
	labels := map[string]string{"app": "web"}
	desired := func(replicas int32) *acappsv1.DeploymentApplyConfiguration {
		return acappsv1.Deployment("web", e.namespace).WithSpec(acappsv1.DeploymentSpec().
			WithReplicas(replicas).
			WithSelector(acmetav1.LabelSelector().WithMatchLabels(labels)).
			WithTemplate(accorev1.PodTemplateSpec().WithLabels(labels).
				WithSpec(accorev1.PodSpec().WithContainers(accorev1.Container().WithName("main").WithImage("main:1")))))
	}
	if _, err := deployments.Apply(e, desired(2), metav1.ApplyOptions{FieldManager: "one"}); err != nil {
		return err
	}
	_, err := deployments.Apply(e, desired(3), metav1.ApplyOptions{FieldManager: "two"})
	if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `conflict with "one"`) {
		return fmt.Errorf("wanted a conflict with one, got %v", err)
	}
	got, err := deployments.Apply(e, desired(3), metav1.ApplyOptions{FieldManager: "two", Force: true})
	if err != nil {
		return err
	}
	first, err := acappsv1.ExtractDeployment(got, "one")
	if err != nil {
		return err
	}
	second, err := acappsv1.ExtractDeployment(got, "two")
	if err != nil {
		return err
	}
	if err := expect(first.Spec.Replicas == nil && *second.Spec.Replicas == 3, "replicas remained with one"); err != nil {
		return err
	}
	return expect(*first.Spec.Template.Spec.Containers[0].Image == "main:1", "what one and two share was lost to one")
}

func typedOptions(e *env) error {
	maps := e.client.CoreV1().ConfigMaps(e.namespace)
	if _, err := maps.Create(e, configMap("dry", nil), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		return err
	}
	if _, err := maps.Get(e, "dry", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return fmt.Errorf("a dry run left something: %v", err)
	}
	named := configMap("", nil)
	named.GenerateName = "some-"
	made, err := maps.Create(e, named, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := expect(strings.HasPrefix(made.Name, "some-") && len(made.Name) == 10, "named %s", made.Name); err != nil {
		return err
	}
	other := types.UID("00000000-0000-0000-0000-000000000000")
	err = maps.Delete(e, made.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}})
	if !apierrors.IsConflict(err) {
		return fmt.Errorf("wanted a conflict, got %v", err)
	}
	return maps.Delete(e, made.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(made.UID))})
}

func typedPager(e *env) error {
	maps := e.client.CoreV1().ConfigMaps(e.namespace)
	for i := range 25 {
		if _, err := maps.Create(e, configMap(fmt.Sprintf("page-%02d", i), nil), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	revisions, pages := map[string]bool{}, 0
	p := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		list, err := maps.List(ctx, options)
		if err != nil {
			return nil, err
		}
		pages++
		revisions[list.ResourceVersion] = true
		_, err = maps.Create(ctx, configMap(fmt.Sprintf("page-late-%d", pages), nil), metav1.CreateOptions{})
		return list, err
	})
	p.PageSize = 10
	seen := 0
	err := p.EachListItem(e, metav1.ListOptions{}, func(object runtime.Object) error {
		if strings.HasPrefix(object.(*corev1.ConfigMap).Name, "page-") {
			seen++
		}
		return nil
	})
	if err != nil {
		return err
	}
	return expect(seen == 25 && pages == 3 && len(revisions) == 1, "%d objects, %d pages, revisions %v", seen, pages, revisions)
}

func typedCollection(e *env) error {
	maps := e.client.CoreV1().ConfigMaps(e.namespace)
	for i := range 4 {
		labels := map[string]string{"half": fmt.Sprint(i % 2)}
		if _, err := maps.Create(e, configMap(fmt.Sprintf("c-%d", i), labels), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	if err := maps.DeleteCollection(e, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "half=0"}); err != nil {
		return err
	}
	left, err := maps.List(e, metav1.ListOptions{LabelSelector: "half"})
	if err != nil {
		return err
	}
	return expect(len(left.Items) == 2, "%d left", len(left.Items))
}

func typedEvents(e *env) error {
	broadcaster := record.NewBroadcaster(record.WithContext(e))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: e.client.CoreV1().Events(e.namespace)})
	defer broadcaster.Shutdown()
	object, err := e.client.CoreV1().ConfigMaps(e.namespace).Create(e, configMap("one", nil), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "probe"})
	recorder.Event(object, corev1.EventTypeNormal, "Seen", "the probe was here")
	recorder.Event(object, corev1.EventTypeNormal, "Seen", "the probe was here")
	return eventually(e, "one event, counted twice", func() (bool, error) {
		list, err := e.client.CoreV1().Events(e.namespace).List(e, metav1.ListOptions{FieldSelector: "involvedObject.name=one,reason=Seen"})
		return err == nil && len(list.Items) == 1 && list.Items[0].Count == 2, err
	})
}

func typedProtobuf(e *env) error {
	config := rest.CopyConfig(e.config)
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	returned := map[string]bool{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(request)
			if err == nil {
				returned[response.Header.Get("Content-Type")] = true
			}
			return response, err
		})
	})
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	if err := life(e, client); err != nil {
		return err
	}
	invalid := deployment("web")
	invalid.Spec.Selector.MatchLabels = map[string]string{"app": "other"}
	if _, err := client.AppsV1().Deployments(e.namespace).Create(e, invalid, metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		return fmt.Errorf("wanted a refusal, got %v", err)
	}
	e.note("returned in %s", strings.Join(slices.Sorted(maps.Keys(returned)), ", "))
	return nil
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
