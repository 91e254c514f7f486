package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	accorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

var managerChecks = []check{
	{"manager: cache, index, predicates, owned objects, finalizers, status and events", managerLife},
	{"manager: a second one waits for its election", managerElection},
	{"client: merge patches with and without a lock, apply, create or patch", clientPatches},
	{"cache: by label and by metadata alone", narrowCaches},
}

const finalizer = "probe.causeway.example/held"

func newScheme(gadgets string) *runtime.Scheme {
	scheme := runtime.NewScheme()
	_ = clientgoscheme.AddToScheme(scheme)
	return gadgetScheme(gadgets, scheme)
}

func newManager(e *env, gadgets string, change func(*ctrl.Options)) (ctrl.Manager, error) {
	skip := true
	options := ctrl.Options{
		Scheme:     newScheme(gadgets),
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: &skip},
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{e.namespace: {}}},
	}
	if change != nil {
		change(&options)
	}
	return ctrl.NewManager(e.config, options)
}

// run starts a manager until the function that it returns is called, which returns how the manager ended.
func run(e *env, m ctrl.Manager) func() error {
	ctx, cancel := context.WithCancel(e)
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	return func() error {
		cancel()
		return <-ended
	}
}

// keeper makes a ConfigMap of each Gadget, and reports it; it holds the Gadget until the ConfigMap is gone.
type keeper struct {
	client.Client
	manager ctrl.Manager
	runs    atomic.Int32
}

func (k *keeper) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	k.runs.Add(1)
	object := &Gadget{}
	if err := k.Get(ctx, request.NamespacedName, object); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: object.Name, Namespace: object.Namespace}}
	if !object.DeletionTimestamp.IsZero() {
		if err := k.Delete(ctx, owned); client.IgnoreNotFound(err) != nil {
			return reconcile.Result{}, err
		}
		before := object.DeepCopyObject().(*Gadget)
		controllerutil.RemoveFinalizer(object, finalizer)
		return reconcile.Result{}, client.IgnoreNotFound(k.Patch(ctx, object, client.MergeFrom(before)))
	}
	if controllerutil.AddFinalizer(object, finalizer) {
		if err := k.Update(ctx, object); err != nil {
			return reconcile.Result{}, err
		}
	}
	_, err := controllerutil.CreateOrUpdate(ctx, k.Client, owned, func() error {
		owned.Data = map[string]string{"size": fmt.Sprint(object.Spec.Size)}
		return controllerutil.SetControllerReference(object, owned, k.Scheme())
	})
	if err != nil || (object.Status.Ready && object.Status.Size == object.Spec.Size) {
		return reconcile.Result{}, err
	}
	object.Status.Ready, object.Status.Size = true, object.Spec.Size
	apimeta.SetStatusCondition(&object.Status.Conditions, metav1.Condition{Type: "Kept", Status: metav1.ConditionTrue, Reason: "Kept", ObservedGeneration: object.Generation})
	k.manager.GetEventRecorderFor("keeper").Event(object, corev1.EventTypeNormal, "Kept", "it is kept")
	return reconcile.Result{}, k.Status().Update(ctx, object)
}

func managerLife(e *env) error {
	if err := install(e, "managed", nil); err != nil {
		return err
	}
	m, err := newManager(e, "managed", nil)
	if err != nil {
		return err
	}
	byColor := func(object client.Object) []string { return []string{object.(*Gadget).Spec.Color} }
	if err := m.GetFieldIndexer().IndexField(e, &Gadget{}, "spec.color", byColor); err != nil {
		return err
	}
	k := &keeper{Client: m.GetClient(), manager: m}
	err = ctrl.NewControllerManagedBy(m).For(&Gadget{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).Owns(&corev1.ConfigMap{}).Complete(k)
	if err != nil {
		return err
	}
	stop := run(e, m)
	c := m.GetClient()
	object := gadget(e, "one", 3)
	object.Spec.Color = "red"
	if err := c.Create(e, object); err != nil {
		return err
	}
	key := client.ObjectKeyFromObject(object)
	ready := func(size int32) error {
		return eventually(e, fmt.Sprintf("ready at %d", size), func() (bool, error) {
			err := c.Get(e, key, object)
			return object.Status.Ready && object.Status.Size == size, err
		})
	}
	if err := ready(3); err != nil {
		return err
	}
	found := &GadgetList{}
	if err := c.List(e, found, client.InNamespace(e.namespace), client.MatchingFields{"spec.color": "red"}); err != nil {
		return err
	}
	if err := expect(len(found.Items) == 1, "%d red", len(found.Items)); err != nil {
		return err
	}
	// What it owns comes back when it is deleted.
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "one", Namespace: e.namespace}}
	if err := c.Delete(e, owned); err != nil {
		return err
	}
	if err := eventually(e, "owned again", func() (bool, error) {
		_, err := e.client.CoreV1().ConfigMaps(e.namespace).Get(e, "one", metav1.GetOptions{})
		return err == nil, err
	}); err != nil {
		return err
	}
	before := object.DeepCopyObject().(*Gadget)
	object.Spec.Size = 4
	if err := c.Patch(e, object, client.MergeFrom(before)); err != nil {
		return err
	}
	if err := ready(4); err != nil {
		return err
	}
	if err := eventually(e, "an event", func() (bool, error) {
		list, err := e.client.CoreV1().Events(e.namespace).List(e, metav1.ListOptions{FieldSelector: "reason=Kept"})
		return err == nil && len(list.Items) > 0 && list.Items[0].InvolvedObject.UID == object.UID, err
	}); err != nil {
		return err
	}
	if err := c.Delete(e, object, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		return err
	}
	if err := eventually(e, "both gone", func() (bool, error) {
		return apierrors.IsNotFound(m.GetAPIReader().Get(e, key, object)) && apierrors.IsNotFound(m.GetAPIReader().Get(e, key, owned)), nil
	}); err != nil {
		return err
	}
	e.note("%s", map[bool]string{true: "quiet", false: "busy"}[k.runs.Load() < 40])
	return stop()
}

func managerElection(e *env) error {
	if err := install(e, "elected", nil); err != nil {
		return err
	}
	lease, renew, retry := 3*time.Second, 2*time.Second, 200*time.Millisecond
	one := func() (ctrl.Manager, error) {
		return newManager(e, "elected", func(options *ctrl.Options) {
			options.LeaderElection, options.LeaderElectionID, options.LeaderElectionNamespace = true, "manager", e.namespace
			options.LeaseDuration, options.RenewDeadline, options.RetryPeriod = &lease, &renew, &retry
			options.LeaderElectionReleaseOnCancel = true
		})
	}
	first, err := one()
	if err != nil {
		return err
	}
	second, err := one()
	if err != nil {
		return err
	}
	stopFirst := run(e, first)
	<-first.Elected()
	stopSecond := run(e, second)
	select {
	case <-second.Elected():
		return fmt.Errorf("two leaders")
	case <-time.After(time.Second):
	}
	if err := stopFirst(); err != nil {
		return err
	}
	select {
	case <-second.Elected():
	case <-time.After(20 * time.Second):
		return fmt.Errorf("the second never led")
	}
	return stopSecond()
}

func clientPatches(e *env) error {
	if err := install(e, "patched", nil); err != nil {
		return err
	}
	lenient, err := client.New(e.config, client.Options{Scheme: newScheme("patched")})
	if err != nil {
		return err
	}
	c := client.WithFieldValidation(lenient, metav1.FieldValidationStrict)
	object := gadget(e, "one", 1)
	if err := c.Create(e, object); err != nil {
		return err
	}
	stale := object.DeepCopyObject().(*Gadget)
	before := object.DeepCopyObject().(*Gadget)
	object.Spec.Color = "red"
	if err := c.Patch(e, object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	before = stale.DeepCopyObject().(*Gadget)
	stale.Spec.Color = "blue"
	err = c.Patch(e, stale, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if !apierrors.IsConflict(err) {
		return fmt.Errorf("wanted a conflict, got %v", err)
	}
	before = object.DeepCopyObject().(*Gadget)
	object.Status.Ready = true
	if err := c.Status().Patch(e, object, client.MergeFrom(before)); err != nil {
		return err
	}
	if err := expect(object.Status.Ready && object.Spec.Color == "red", "after patches %v %v", object.Spec, object.Status); err != nil {
		return err
	}
	applied := accorev1.ConfigMap("applied", e.namespace).WithData(map[string]string{"a": "1"})
	if err := c.Apply(e, applied, client.FieldOwner("probe"), client.ForceOwnership); err != nil {
		return err
	}
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "applied", Namespace: e.namespace}}
	for _, want := range []controllerutil.OperationResult{controllerutil.OperationResultUpdated, controllerutil.OperationResultNone} {
		got, err := controllerutil.CreateOrPatch(e, c, owned, func() error {
			owned.Data = map[string]string{"a": "2"}
			return controllerutil.SetOwnerReference(object, owned, c.Scheme())
		})
		if err != nil {
			return err
		}
		if err := expect(got == want, "%s, not %s", got, want); err != nil {
			return err
		}
	}
	dry := client.NewDryRunClient(c)
	if err := dry.Delete(e, object); err != nil {
		return err
	}
	return c.Get(e, client.ObjectKeyFromObject(object), object)
}

func narrowCaches(e *env) error {
	if err := install(e, "narrow", nil); err != nil {
		return err
	}
	m, err := newManager(e, "narrow", func(options *ctrl.Options) {
		options.Cache.ByObject = map[client.Object]cache.ByObject{
			&corev1.ConfigMap{}: {Label: labels.SelectorFromSet(labels.Set{"seen": "yes"}), Transform: cache.TransformStripManagedFields()},
		}
	})
	if err != nil {
		return err
	}
	direct, err := client.New(e.config, client.Options{Scheme: m.GetScheme()})
	if err != nil {
		return err
	}
	for name, seen := range map[string]string{"seen": "yes", "unseen": "no"} {
		object := configMap(name, map[string]string{"seen": seen})
		object.Namespace = e.namespace
		if err := direct.Create(e, object); err != nil {
			return err
		}
	}
	if err := direct.Create(e, gadget(e, "one", 1)); err != nil {
		return err
	}
	stop := run(e, m)
	if !m.GetCache().WaitForCacheSync(e) {
		return fmt.Errorf("no sync")
	}
	maps := &corev1.ConfigMapList{}
	if err := m.GetClient().List(e, maps); err != nil {
		return err
	}
	if err := expect(len(maps.Items) == 1 && maps.Items[0].Name == "seen" && len(maps.Items[0].ManagedFields) == 0, "cached %v", maps.Items); err != nil {
		return err
	}
	partial := &metav1.PartialObjectMetadataList{}
	partial.SetGroupVersionKind(group("narrow").WithKind("GadgetList"))
	if err := m.GetClient().List(e, partial); err != nil {
		return err
	}
	if err := expect(len(partial.Items) == 1, "%d by metadata", len(partial.Items)); err != nil {
		return err
	}
	return stop()
}
