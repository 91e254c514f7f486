package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"net/http"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/certificate/csr"
)

var accessChecks = []check{
	{"a token of a service account: requested, reviewed, used, held to its rights", tokenLife},
	{"impersonation, with the reviews of who and what", impersonation},
	{"subject access reviews, and the rules of oneself", reviews},
	{"a certificate request by client-go's own helper, approved, and the certificate used", certificateLife},
	{"eviction: of a pod, and refused by a disruption budget", eviction},
}

// withToken reaches the same server as the bearer of a token.
func withToken(e *env, token string) (*kubernetes.Clientset, error) {
	config := rest.AnonymousClientConfig(e.config)
	config.BearerToken = token
	return kubernetes.NewForConfig(config)
}

func tokenLife(e *env) error {
	accounts := e.client.CoreV1().ServiceAccounts(e.namespace)
	if _, err := accounts.Create(e, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "bot"}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	seconds := int64(3600)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	request, err := accounts.CreateToken(e, "bot", request, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	user := "system:serviceaccount:" + e.namespace + ":bot"
	review, err := e.client.AuthenticationV1().TokenReviews().Create(e,
		&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: request.Status.Token}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := expect(review.Status.Authenticated && review.Status.User.Username == user, "review %v", review.Status); err != nil {
		return err
	}
	bot, err := withToken(e, request.Status.Token)
	if err != nil {
		return err
	}
	if _, err := bot.CoreV1().ConfigMaps(e.namespace).List(e, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		return fmt.Errorf("wanted a refusal, got %v", err)
	}
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "reader"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}}}}
	if _, err := e.client.RbacV1().Roles(e.namespace).Create(e, role, metav1.CreateOptions{}); err != nil {
		return err
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Name: "bot", Namespace: e.namespace}},
		RoleRef:    rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "Role", Name: "reader"},
	}
	if _, err := e.client.RbacV1().RoleBindings(e.namespace).Create(e, binding, metav1.CreateOptions{}); err != nil {
		return err
	}
	err = eventually(e, "the right to list", func() (bool, error) {
		_, err := bot.CoreV1().ConfigMaps(e.namespace).List(e, metav1.ListOptions{})
		return err == nil, err
	})
	if err != nil {
		return err
	}
	if err := accounts.Delete(e, "bot", metav1.DeleteOptions{}); err != nil {
		return err
	}
	return eventually(e, "the end of the token with its account", func() (bool, error) {
		_, err := bot.CoreV1().ConfigMaps(e.namespace).List(e, metav1.ListOptions{})
		return apierrors.IsUnauthorized(err), nil
	})
}

func impersonation(e *env) error {
	config := rest.CopyConfig(e.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "jane", Groups: []string{"readers"}, Extra: map[string][]string{"Where": {"here"}}}
	jane, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	self, err := jane.AuthenticationV1().SelfSubjectReviews().Create(e, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	info := self.Status.UserInfo
	if err := expect(info.Username == "jane" && strings.Join(info.Groups, " ") == "readers system:authenticated", "as %v", info); err != nil {
		return err
	}
	_, err = jane.CoreV1().Secrets(e.namespace).List(e, metav1.ListOptions{})
	want := `secrets is forbidden: User "jane" cannot list resource "secrets" in API group "" in the namespace "` + e.namespace + `"`
	if err == nil || err.Error() != want {
		return fmt.Errorf("refused with %v", err)
	}
	return nil
}

func reviews(e *env) error {
	attributes := &authorizationv1.ResourceAttributes{Namespace: e.namespace, Verb: "create", Resource: "pods"}
	own, err := e.client.AuthorizationV1().SelfSubjectAccessReviews().Create(e,
		&authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: attributes}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	other, err := e.client.AuthorizationV1().SubjectAccessReviews().Create(e,
		&authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: "jane", ResourceAttributes: attributes}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := expect(own.Status.Allowed && !other.Status.Allowed, "own %v, other %v", own.Status, other.Status); err != nil {
		return err
	}
	rules, err := e.client.AuthorizationV1().SelfSubjectRulesReviews().Create(e,
		&authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: e.namespace}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	return expect(len(rules.Status.ResourceRules) > 0 && len(rules.Status.NonResourceRules) > 0, "rules %v", rules.Status)
}

func certificateLife(e *env) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	subject := pkix.Name{CommonName: "jane"}
	body, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: subject}, key)
	if err != nil {
		return err
	}
	encoded := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: body})
	day := 24 * time.Hour
	name, uid, err := csr.RequestCertificateWithContext(e, e.client, encoded, "", certificatesv1.KubeAPIServerClientSignerName,
		&day, []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageClientAuth}, key)
	if err != nil {
		return err
	}
	requests := e.client.CertificatesV1().CertificateSigningRequests()
	request, err := requests.Get(e, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	request.Status.Conditions = append(request.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
		Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "Probe", Message: "a check",
	})
	if request, err = requests.UpdateApproval(e, name, request, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err := expect(len(request.Status.Conditions) == 1, "conditions %v", request.Status.Conditions); err != nil {
		return err
	}
	certificate, err := csr.WaitForCertificate(e, e.client, name, uid)
	if err != nil {
		return err
	}
	encodedKey, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	config := rest.AnonymousClientConfig(e.config)
	config.CertData = certificate
	config.KeyData = pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: encodedKey})
	jane, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	self, err := jane.AuthenticationV1().SelfSubjectReviews().Create(e, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	return expect(self.Status.UserInfo.Username == "jane", "as %v", self.Status.UserInfo)
}

func eviction(e *env) error {
	pods := e.client.CoreV1().Pods(e.namespace)
	if _, err := e.client.CoreV1().ServiceAccounts(e.namespace).Create(e, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	for _, name := range []string{"free", "kept"} {
		made, err := pods.Create(e, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "main:1"}}},
		}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		made.Status.Phase = corev1.PodRunning
		if _, err := pods.UpdateStatus(e, made, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	one := intstr.FromInt32(1)
	if _, err := e.client.PolicyV1().PodDisruptionBudgets(e.namespace).Create(e, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "kept"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "kept"}}},
	}, metav1.CreateOptions{}); err != nil {
		return err
	}
	// Without the header a client sends a request once only, and its refusal can be seen.
	config := rest.CopyConfig(e.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(request)
			if err == nil && response.StatusCode == http.StatusTooManyRequests {
				e.note("retry after %s s", response.Header.Get("Retry-After"))
				response.Header.Del("Retry-After")
			}
			return response, err
		})
	})
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	evict := func(name string) error {
		return client.PolicyV1().Evictions(e.namespace).Evict(e, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: e.namespace}})
	}
	if err := evict("free"); err != nil {
		return err
	}
	err = evict("kept")
	if !apierrors.IsTooManyRequests(err) {
		return fmt.Errorf("wanted 429 Too Many Requests, got %v", err)
	}
	e.note("%s", err)
	return nil
}
