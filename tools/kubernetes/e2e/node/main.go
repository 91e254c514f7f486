// One hollow node: kubemark's hollow kubelet, unchanged but for the readiness of its containers.
//
// Kubemark's own program reports containers ready from the first status of a pod on, before they run: a pod is Ready
// while its phase is Pending, which no real kubelet reports. An eviction of such a pod passes every disruption budget,
// and rollouts do not wait for their pods. Here containers are ready when they run.
package main

import (
	"context"
	"flag"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"go.opentelemetry.io/otel/trace/noop"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	remote "k8s.io/cri-client/pkg"
	fakeremote "k8s.io/cri-client/pkg/fake"
	"k8s.io/kubernetes/pkg/kubelet/cadvisor/testing"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	probetest "k8s.io/kubernetes/pkg/kubelet/prober/testing"
	"k8s.io/kubernetes/pkg/kubemark"
)

const maxPods = 110

// running is kubemark's prober, whose probes always succeed, with the one condition that a real prober has in addition:
// the container runs.
type running struct{ probetest.FakeManager }

func (running) UpdatePodStatus(_ *v1.Pod, status *v1.PodStatus) {
	for i := range status.ContainerStatuses {
		container := &status.ContainerStatuses[i]
		container.Ready = container.State.Running != nil
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		klog.Fatal(err)
	}
	return value
}

func main() {
	name := flag.String("name", "hollow", "of the Node")
	kubeconfig := flag.String("kubeconfig", "", "of the kubelet")
	port := flag.Int("kubelet-port", 10250, "on which the kubelet serves")
	readOnly := flag.Int("kubelet-read-only-port", 10255, "the same, without authentication")
	klog.InitFlags(nil)
	flag.Parse()

	config := must(clientcmd.BuildConfigFromFlags("", *kubeconfig))
	config.UserAgent = "hollow-kubelet"
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.QPS, config.Burst = 10, 20
	flags, settings := kubemark.GetHollowKubeletConfig(&kubemark.HollowKubeletOptions{
		NodeName: *name, KubeletPort: *port, KubeletReadOnlyPort: *readOnly, MaxPods: maxPods,
	})
	heartbeat := rest.CopyConfig(config)
	heartbeat.QPS = -1
	heartbeat.Timeout = settings.NodeStatusUpdateFrequency.Duration

	endpoint := must(fakeremote.GenerateEndpoint())
	runtime := fakeremote.NewFakeRemoteRuntime()
	if err := runtime.Start(endpoint); err != nil {
		klog.Fatal(err)
	}
	defer runtime.Stop()
	logger := klog.Background()
	service := must(remote.NewRemoteRuntimeService(endpoint, 15*time.Second, noop.NewTracerProvider(), &logger))
	kubelet := kubemark.NewHollowKubelet(
		flags, settings,
		must(clientset.NewForConfig(config)), must(clientset.NewForConfig(heartbeat)),
		&testing.Fake{NodeName: *name}, runtime.ImageService, service, cm.NewStubContainerManagerWithDevicePluginResource(v1.ResourceList{}),
	)
	kubelet.KubeletDeps.ProbeManager = running{}
	kubelet.Run(context.Background())
}
