package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/cache"
)

var genericChecks = []check{
	{"envtest: a CRD is installed, waited for, changed and uninstalled", installLife},
	{"dynamic client: a custom resource's life, its status apart", dynamicLife},
	{"dynamic client: apply and apply of status", dynamicApply},
	{"metadata client: lists, reads, patches and informs of PartialObjectMetadata", metadataLife},
	{"scale client: a Deployment and a custom resource", scaleLife},
	{"discovery: preferred resources, the mapper, OpenAPI v2 and v3", discoveryLife},
	{"a Table of built-in and of custom resources", tables},
}

var deploymentsResource = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}

func gadgetsResource(name string) schema.GroupVersionResource {
	return group(name).WithResource("gadgets")
}

func installLife(e *env) error {
	for range 2 {
		if err := install(e, "installed", nil); err != nil {
			return err
		}
	}
	return uninstall(e, "installed")
}

func unstructuredGadget(e *env, group, name string, size int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": gadgetsResource(group).GroupVersion().String(), "kind": "Gadget",
		"metadata": map[string]any{"name": name, "namespace": e.namespace},
		"spec":     map[string]any{"size": size},
	}}
}

func dynamicLife(e *env) error {
	if err := install(e, "dynamic", nil); err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(e.config)
	if err != nil {
		return err
	}
	gadgets := client.Resource(gadgetsResource("dynamic")).Namespace(e.namespace)
	object := unstructuredGadget(e, "dynamic", "one", 1)
	object.Object["status"] = map[string]any{"ready": true}
	made, err := gadgets.Create(e, object, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := expect(made.Object["status"] == nil && made.GetGeneration() == 1, "created with status %v", made.Object["status"]); err != nil {
		return err
	}
	made.Object["status"] = map[string]any{"ready": true}
	reported, err := gadgets.UpdateStatus(e, made, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	ready, _, _ := unstructured.NestedBool(reported.Object, "status", "ready")
	if err := expect(ready && reported.GetGeneration() == 1, "status %v", reported.Object["status"]); err != nil {
		return err
	}
	patched, err := gadgets.Patch(e, "one", types.MergePatchType, []byte(`{"spec":{"size":2,"unknown":1}}`), metav1.PatchOptions{})
	if err != nil {
		return err
	}
	spec, _ := json.Marshal(patched.Object["spec"])
	if err := expect(string(spec) == `{"size":2}` && patched.GetGeneration() == 2, "spec %s", spec); err != nil {
		return err
	}
	_, err = gadgets.Patch(e, "one", types.StrategicMergePatchType, []byte(`{}`), metav1.PatchOptions{})
	if !apierrors.IsUnsupportedMediaType(err) {
		return fmt.Errorf("a strategic merge patch: %v", err)
	}
	return gadgets.Delete(e, "one", metav1.DeleteOptions{})
}

func dynamicApply(e *env) error {
	if err := install(e, "applied", nil); err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(e.config)
	if err != nil {
		return err
	}
	gadgets := client.Resource(gadgetsResource("applied")).Namespace(e.namespace)
	if _, err := gadgets.Apply(e, "one", unstructuredGadget(e, "applied", "one", 1), metav1.ApplyOptions{FieldManager: "one"}); err != nil {
		return err
	}
	status := unstructuredGadget(e, "applied", "one", 9)
	delete(status.Object, "spec")
	status.Object["status"] = map[string]any{"size": int64(1)}
	got, err := gadgets.ApplyStatus(e, "one", status, metav1.ApplyOptions{FieldManager: "reporter"})
	if err != nil {
		return err
	}
	managers := []string{}
	for _, entry := range got.GetManagedFields() {
		managers = append(managers, entry.Manager+"/"+entry.Subresource)
	}
	said := strings.Join(managers, " ")
	return expect(said == "one/ reporter/status" || said == "reporter/status one/", "managers %s", said)
}

func metadataLife(e *env) error {
	client, err := metadata.NewForConfig(e.config)
	if err != nil {
		return err
	}
	if err := install(e, "metadata", nil); err != nil {
		return err
	}
	dynamics, err := dynamic.NewForConfig(e.config)
	if err != nil {
		return err
	}
	resource := gadgetsResource("metadata")
	if _, err := e.client.AppsV1().Deployments(e.namespace).Create(e, deployment("one"), metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := dynamics.Resource(resource).Namespace(e.namespace).Create(e, unstructuredGadget(e, "metadata", "one", 1), metav1.CreateOptions{}); err != nil {
		return err
	}
	for _, resource := range []schema.GroupVersionResource{deploymentsResource, resource} {
		objects := client.Resource(resource).Namespace(e.namespace)
		got, err := objects.Get(e, "one", metav1.GetOptions{})
		if err != nil {
			return err
		}
		list, err := objects.List(e, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if err := expect(got.Name == "one" && len(list.Items) == 1 && list.Items[0].UID == got.UID, "metadata of %s: %v", resource, list.Items); err != nil {
			return err
		}
		ctx, stop := context.WithCancel(e)
		defer stop()
		factory := metadatainformer.NewFilteredSharedInformerFactory(client, 0, e.namespace, nil)
		informer := factory.ForResource(resource).Informer()
		factory.Start(ctx.Done())
		if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			return fmt.Errorf("no sync of %s", resource)
		}
		if _, err := objects.Patch(e, "one", types.MergePatchType, []byte(`{"metadata":{"labels":{"by":"metadata"}}}`), metav1.PatchOptions{}); err != nil {
			return err
		}
		err = eventually(ctx, "the label in the informer's cache", func() (bool, error) {
			item, _, err := informer.GetStore().GetByKey(e.namespace + "/one")
			if item == nil || err != nil {
				return false, err
			}
			return item.(*metav1.PartialObjectMetadata).Labels["by"] == "metadata", nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func scaleLife(e *env) error {
	if err := install(e, "scaled", nil); err != nil {
		return err
	}
	dynamics, err := dynamic.NewForConfig(e.config)
	if err != nil {
		return err
	}
	if _, err := e.client.AppsV1().Deployments(e.namespace).Create(e, deployment("one"), metav1.CreateOptions{}); err != nil {
		return err
	}
	resource := gadgetsResource("scaled")
	if _, err := dynamics.Resource(resource).Namespace(e.namespace).Create(e, unstructuredGadget(e, "scaled", "one", 1), metav1.CreateOptions{}); err != nil {
		return err
	}
	discoverer, err := discovery.NewDiscoveryClientForConfig(e.config)
	if err != nil {
		return err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(discoverer))
	client, err := scale.NewForConfig(e.config, mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(discoverer))
	if err != nil {
		return err
	}
	for _, of := range []schema.GroupResource{deploymentsResource.GroupResource(), resource.GroupResource()} {
		scales := client.Scales(e.namespace)
		got, err := scales.Get(e, of, "one", metav1.GetOptions{})
		if err != nil {
			return err
		}
		got.Spec.Replicas = 5
		if got, err = scales.Update(e, of, got, metav1.UpdateOptions{}); err != nil {
			return err
		}
		if err := expect(got.Spec.Replicas == 5, "%s: %d", of, got.Spec.Replicas); err != nil {
			return err
		}
	}
	direct, err := e.client.AppsV1().Deployments(e.namespace).UpdateScale(e, "one", &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Name: "one", Namespace: e.namespace}, Spec: autoscalingv1.ScaleSpec{Replicas: 2},
	}, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	return expect(direct.Spec.Replicas == 2 && direct.Status.Selector == "app=one", "scale %v", direct)
}

func discoveryLife(e *env) error {
	if err := install(e, "discovered", nil); err != nil {
		return err
	}
	client := e.client.Discovery()
	lists, err := client.ServerPreferredResources()
	if err != nil {
		return err
	}
	if err := expect(len(lists) > 10, "%d groups", len(lists)); err != nil {
		return err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: group("discovered").Group, Kind: "Gadget"})
	if err != nil {
		return err
	}
	if err := expect(mapping.Resource == gadgetsResource("discovered"), "mapped to %v", mapping.Resource); err != nil {
		return err
	}
	document, err := client.OpenAPISchema()
	if err != nil {
		return err
	}
	if err := expect(document.Info != nil, "OpenAPI v2 without info"); err != nil {
		return err
	}
	return eventually(e, "OpenAPI v3 of the group", func() (bool, error) {
		paths, err := client.OpenAPIV3().Paths()
		if err != nil {
			return false, err
		}
		of, served := paths["apis/"+group("discovered").String()]
		if !served {
			return false, nil
		}
		body, err := of.Schema(runtime.ContentTypeJSON)
		return strings.Contains(string(body), `"color"`), err
	})
}

func tables(e *env) error {
	if err := install(e, "tabled", nil); err != nil {
		return err
	}
	dynamics, err := dynamic.NewForConfig(e.config)
	if err != nil {
		return err
	}
	resource := gadgetsResource("tabled")
	if _, err := dynamics.Resource(resource).Namespace(e.namespace).Create(e, unstructuredGadget(e, "tabled", "one", 7), metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := e.client.AppsV1().Deployments(e.namespace).Create(e, deployment("one"), metav1.CreateOptions{}); err != nil {
		return err
	}
	for path, columns := range map[string]string{
		"/apis/" + group("tabled").String() + "/namespaces/" + e.namespace + "/gadgets": "Name Size",
		"/apis/apps/v1/namespaces/" + e.namespace + "/deployments":                      "Name Ready Up-to-date Available Age Containers Images Selector",
	} {
		body, err := e.client.RESTClient().Get().AbsPath(path).SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Timeout(10 * time.Second).DoRaw(e)
		if err != nil {
			return err
		}
		var table metav1.Table
		if err := json.Unmarshal(body, &table); err != nil {
			return err
		}
		names := []string{}
		for _, column := range table.ColumnDefinitions {
			names = append(names, column.Name)
		}
		if err := expect(strings.Join(names, " ") == columns && len(table.Rows) == 1, "%s: %v", path, names); err != nil {
			return err
		}
	}
	return nil
}
