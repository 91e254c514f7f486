package main

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// Gadget is the kind that the checks about custom resources use: v1 says its size in one number, v2 in a structure.
type Gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   GadgetSpec   `json:"spec,omitempty"`
	Status GadgetStatus `json:"status,omitempty"`
}

type GadgetSpec struct {
	Size  int32  `json:"size,omitempty"`
	Color string `json:"color,omitempty"`
}

type GadgetStatus struct {
	Ready      bool               `json:"ready,omitempty"`
	Size       int32              `json:"size,omitempty"`
	Selector   string             `json:"selector,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

type GadgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Gadget `json:"items"`
}

func (g *Gadget) DeepCopyObject() runtime.Object {
	out := *g
	out.ObjectMeta = *g.ObjectMeta.DeepCopy()
	out.Status.Conditions = append([]metav1.Condition(nil), g.Status.Conditions...)
	return &out
}

func (l *GadgetList) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = nil
	for _, item := range l.Items {
		out.Items = append(out.Items, *item.DeepCopyObject().(*Gadget))
	}
	return &out
}

func group(name string) schema.GroupVersion {
	return schema.GroupVersion{Group: name + ".probe.causeway.example", Version: "v1"}
}

// gadgetScheme knows the kind in a group of its own, so that checks do not share CRDs.
func gadgetScheme(name string, into *runtime.Scheme) *runtime.Scheme {
	into.AddKnownTypes(group(name), &Gadget{}, &GadgetList{})
	metav1.AddToGroupVersion(into, group(name))
	return into
}

func gadgetSchema() map[string]apiextensionsv1.JSONSchemaProps {
	whole := apiextensionsv1.JSONSchemaProps{Type: "integer", Format: "int32"}
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	open := true
	return map[string]apiextensionsv1.JSONSchemaProps{
		"spec": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"size": whole, "color": text}},
		"status": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"ready": {Type: "boolean"}, "size": whole, "selector": text,
			"conditions": {Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{
				Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &open}}},
		}},
	}
}

func gadgetDefinition(name string) *apiextensionsv1.CustomResourceDefinition {
	labelSelector := ".status.selector"
	return &apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: "gadgets." + group(name).Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group(name).Group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "gadgets", Singular: "gadget", Kind: "Gadget", ListKind: "GadgetList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: gadgetSchema()}},
				Subresources: &apiextensionsv1.CustomResourceSubresources{
					Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
					Scale:  &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.size", StatusReplicasPath: ".status.size", LabelSelectorPath: &labelSelector},
				},
				AdditionalPrinterColumns: []apiextensionsv1.CustomResourceColumnDefinition{{Name: "Size", Type: "integer", JSONPath: ".spec.size"}},
			}},
		},
	}
}

// install makes the CRD the way test suites of controllers do, and waits as they do.
func install(e *env, name string, change func(*apiextensionsv1.CustomResourceDefinition)) error {
	crd := gadgetDefinition(name)
	if change != nil {
		change(crd)
	}
	_, err := envtest.InstallCRDs(e.config, envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{crd}})
	if err != nil {
		return fmt.Errorf("install: %w", err)
	}
	return nil
}

func gadget(e *env, name string, size int32) *Gadget {
	return &Gadget{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: e.namespace}, Spec: GadgetSpec{Size: size}}
}

func uninstall(e *env, name string) error {
	return envtest.UninstallCRDs(e.config, envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{gadgetDefinition(name)}})
}
