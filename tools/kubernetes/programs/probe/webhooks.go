package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

var webhookChecks = []check{
	{"webhooks of controller-runtime: defaulting, refusing, warning, dry runs, and none when they are gone", admissionWebhooks},
	{"webhooks of controller-runtime: two versions of a kind, stored in one", conversionWebhooks},
}

// GadgetV2 says its size in a structure.
type GadgetV2 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec GadgetV2Spec `json:"spec,omitempty"`
}

type GadgetV2Spec struct {
	Size struct {
		Value int32 `json:"value"`
	} `json:"size"`
	Color string `json:"color,omitempty"`
}

func (g *GadgetV2) DeepCopyObject() runtime.Object {
	out := *g
	out.ObjectMeta = *g.ObjectMeta.DeepCopy()
	return &out
}

// Hub marks v1 as what other versions are converted through.
func (*Gadget) Hub() {}

func (g *GadgetV2) ConvertTo(hub conversion.Hub) error {
	into := hub.(*Gadget)
	into.ObjectMeta = g.ObjectMeta
	into.Spec = GadgetSpec{Size: g.Spec.Size.Value, Color: g.Spec.Color}
	return nil
}

func (g *GadgetV2) ConvertFrom(hub conversion.Hub) error {
	from := hub.(*Gadget)
	g.ObjectMeta = from.ObjectMeta
	g.Spec.Size.Value, g.Spec.Color = from.Spec.Size, from.Spec.Color
	return nil
}

type judge struct{}

func (judge) Default(_ context.Context, object runtime.Object) error {
	if g := object.(*Gadget); g.Spec.Color == "" {
		g.Spec.Color = "grey"
	}
	return nil
}

func (judge) ValidateCreate(_ context.Context, object runtime.Object) (admission.Warnings, error) {
	if g := object.(*Gadget); g.Spec.Size > 10 {
		return nil, errors.New("too big")
	}
	return admission.Warnings{"gadgets are old"}, nil
}

func (judge) ValidateUpdate(_ context.Context, old, object runtime.Object) (admission.Warnings, error) {
	if object.(*Gadget).Spec.Size < old.(*Gadget).Spec.Size {
		return nil, errors.New("gadgets do not shrink")
	}
	return nil, nil
}

func (judge) ValidateDelete(_ context.Context, object runtime.Object) (admission.Warnings, error) {
	if object.(*Gadget).Spec.Color == "gold" {
		return nil, errors.New("gold remains")
	}
	return nil, nil
}

// webhookManager serves what the builder gives for v1 on loopback.
func webhookManager(e *env, name string, hooks envtest.WebhookInstallOptions, scheme *runtime.Scheme) (func() error, error) {
	m, err := newManager(e, name, func(options *ctrl.Options) {
		options.Scheme = scheme
		options.WebhookServer = webhook.NewServer(webhook.Options{
			Host: hooks.LocalServingHost, Port: hooks.LocalServingPort, CertDir: hooks.LocalServingCertDir,
		})
	})
	if err != nil {
		return nil, err
	}
	if err := ctrl.NewWebhookManagedBy(m).For(&Gadget{}).WithDefaulter(judge{}).WithValidator(judge{}).Complete(); err != nil {
		return nil, err
	}
	stop := run(e, m)
	return stop, eventually(e, "the webhook server", func() (bool, error) {
		err := m.GetWebhookServer().StartedChecker()(nil)
		return err == nil, err
	})
}

func hooksFor(name string) envtest.WebhookInstallOptions {
	path := func(verb string) *string {
		of := "/" + verb + "-" + strings.ReplaceAll(group(name).Group, ".", "-") + "-v1-gadget"
		return &of
	}
	fail, none := admissionregistrationv1.Fail, admissionregistrationv1.SideEffectClassNone
	rules := func(operations ...admissionregistrationv1.OperationType) []admissionregistrationv1.RuleWithOperations {
		return []admissionregistrationv1.RuleWithOperations{{
			Operations: operations,
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{group(name).Group}, APIVersions: []string{"v1"}, Resources: []string{"gadgets"}},
		}}
	}
	client := func(verb string) admissionregistrationv1.WebhookClientConfig {
		return admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: "default", Name: "gadgets", Path: path(verb)}}
	}
	meta := metav1.ObjectMeta{Name: "gadgets-" + name}
	return envtest.WebhookInstallOptions{
		MutatingWebhooks: []*admissionregistrationv1.MutatingWebhookConfiguration{{
			TypeMeta: metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "MutatingWebhookConfiguration"}, ObjectMeta: meta,
			Webhooks: []admissionregistrationv1.MutatingWebhook{{
				Name: "default.gadgets.example", ClientConfig: client("mutate"), Rules: rules("CREATE", "UPDATE"),
				FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			}},
		}},
		ValidatingWebhooks: []*admissionregistrationv1.ValidatingWebhookConfiguration{{
			TypeMeta: metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingWebhookConfiguration"}, ObjectMeta: meta,
			Webhooks: []admissionregistrationv1.ValidatingWebhook{{
				Name: "validate.gadgets.example", ClientConfig: client("validate"), Rules: rules("CREATE", "UPDATE", "DELETE"),
				FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			}},
		}},
	}
}

// warned collects the warnings that a client was given.
type warned struct{ texts []string }

func (w *warned) HandleWarningHeader(_ int, _, text string) { w.texts = append(w.texts, text) }

func admissionWebhooks(e *env) error {
	if err := install(e, "hooked", nil); err != nil {
		return err
	}
	hooks := hooksFor("hooked")
	if err := hooks.Install(e.config); err != nil {
		return err
	}
	stop, err := webhookManager(e, "hooked", hooks, newScheme("hooked"))
	if err != nil {
		return err
	}
	config, warnings := *e.config, &warned{}
	config.WarningHandler = warnings
	c, err := client.New(&config, client.Options{Scheme: newScheme("hooked")})
	if err != nil {
		return err
	}
	object := gadget(e, "one", 3)
	if err := eventually(e, "the webhooks in use", func() (bool, error) {
		probe := gadget(e, "dry", 3)
		err := c.Create(e, probe, client.DryRunAll)
		return probe.Spec.Color == "grey", err
	}); err != nil {
		return err
	}
	if err := c.Create(e, object); err != nil {
		return err
	}
	if err := expect(object.Spec.Color == "grey", "color %q", object.Spec.Color); err != nil {
		return err
	}
	if err := expect(len(warnings.texts) > 0 && warnings.texts[0] == "gadgets are old", "warnings %v", warnings.texts); err != nil {
		return err
	}
	refusal := `admission webhook "validate.gadgets.example" denied the request: `
	for want, try := range map[string]func() error{
		"too big": func() error { return c.Create(e, gadget(e, "big", 11)) },
		"gadgets do not shrink": func() error {
			return c.Patch(e, gadget(e, "one", 1), client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"size":1}}`)))
		},
		"gold remains": func() error {
			gold := gadget(e, "gold", 1)
			gold.Spec.Color = "gold"
			if err := c.Create(e, gold); err != nil {
				return err
			}
			return c.Delete(e, gold)
		},
	} {
		if err := try(); err == nil || !apierrors.IsForbidden(err) || err.Error() != refusal+want {
			return fmt.Errorf("wanted %q, got %v", want, err)
		}
	}
	if err := stop(); err != nil {
		return err
	}
	// No webhook answers now, and the policy is to fail.
	err = c.Create(e, gadget(e, "late", 1))
	if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), `failed calling webhook "default.gadgets.example"`) {
		return fmt.Errorf("no webhook answers: %v", err)
	}
	name := metav1.ObjectMeta{Name: "gadgets-hooked"}
	if err := c.Delete(e, &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: name}); err != nil {
		return err
	}
	if err := c.Delete(e, &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: name}); err != nil {
		return err
	}
	return eventually(e, "no webhooks", func() (bool, error) {
		err := c.Create(e, gadget(e, "big", 11), client.DryRunAll)
		return err == nil, err
	})
}

func conversionWebhooks(e *env) error {
	name := "converted"
	second := schema.GroupVersion{Group: group(name).Group, Version: "v2"}
	scheme := newScheme(name)
	scheme.AddKnownTypeWithName(second.WithKind("Gadget"), &GadgetV2{})
	metav1.AddToGroupVersion(scheme, second)
	hooks := envtest.WebhookInstallOptions{}
	if err := hooks.PrepWithoutInstalling(); err != nil {
		return err
	}
	url := fmt.Sprintf("https://%s:%d/convert", hooks.LocalServingHost, hooks.LocalServingPort)
	if err := install(e, name, func(crd *apiextensionsv1.CustomResourceDefinition) {
		later := *crd.Spec.Versions[0].DeepCopy()
		later.Name, later.Storage, later.AdditionalPrinterColumns = "v2", false, nil
		spec := later.Schema.OpenAPIV3Schema.Properties["spec"]
		spec.Properties["size"] = apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"value": {Type: "integer"}}}
		later.Subresources.Scale = nil
		crd.Spec.Versions = append(crd.Spec.Versions, later)
		crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
			Strategy: apiextensionsv1.WebhookConverter,
			Webhook: &apiextensionsv1.WebhookConversion{
				ConversionReviewVersions: []string{"v1"},
				ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: &url, CABundle: hooks.LocalServingCAData},
			},
		}
	}); err != nil {
		return err
	}
	stop, err := webhookManager(e, name, hooks, scheme)
	if err != nil {
		return err
	}
	c, err := client.New(e.config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	object := &GadgetV2{ObjectMeta: metav1.ObjectMeta{Name: "one", Namespace: e.namespace}}
	object.Spec.Size.Value = 7
	if err := c.Create(e, object); err != nil {
		return err
	}
	first := &Gadget{}
	if err := c.Get(e, client.ObjectKeyFromObject(object), first); err != nil {
		return err
	}
	if err := expect(first.Spec.Size == 7 && first.UID == object.UID, "as v1: %v", first.Spec); err != nil {
		return err
	}
	first.Spec.Size = 8
	if err := c.Update(e, first); err != nil {
		return err
	}
	if err := c.Get(e, client.ObjectKeyFromObject(object), object); err != nil {
		return err
	}
	if err := expect(object.Spec.Size.Value == 8, "as v2: %v", object.Spec); err != nil {
		return err
	}
	list := &GadgetList{}
	if err := c.List(e, list, client.InNamespace(e.namespace)); err != nil {
		return err
	}
	if err := expect(len(list.Items) == 1 && list.Items[0].Spec.Size == 8, "listed %v", list.Items); err != nil {
		return err
	}
	return stop()
}
