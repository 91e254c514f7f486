// The load-balancer and node-lifecycle tests of Kubernetes' own e2e suite, unchanged, without the rest of it.
//
// The suite's packages are linked in whole; what differs from upstream's e2e.test is the provider: tests that take a
// machine away know only the providers of two public clouds, so the one that is registered under such a name here asks
// the harness at CAUSEWAY_E2E_MACHINES to do it.
package main

import (
	"context"
	"flag"
	"os"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"k8s.io/kubernetes/test/e2e/common"
	"k8s.io/kubernetes/test/e2e/framework"
	"k8s.io/kubernetes/test/e2e/framework/config"
	e2enode "k8s.io/kubernetes/test/e2e/framework/node"

	_ "k8s.io/kubernetes/test/e2e/cloud"
	_ "k8s.io/kubernetes/test/e2e/framework/debug/init"
	_ "k8s.io/kubernetes/test/e2e/framework/node/init"
	_ "k8s.io/kubernetes/test/e2e/network"
)

// outcome is called when a spec fails; RunSpecs reports that itself.
type outcome struct{}

func (outcome) Fail() {}

// Pods of the system there are none, so only the nodes are waited for.
var _ = ginkgo.SynchronizedBeforeSuite(func(ctx context.Context) []byte {
	common.CurrentSuite = common.E2E
	client, err := framework.LoadClientset()
	framework.ExpectNoError(err)
	framework.ExpectNoError(e2enode.WaitForAllNodesSchedulable(ctx, client, framework.NewTimeoutContext().NodeSchedulable))
	nodes, err := e2enode.GetReadySchedulableNodes(ctx, client)
	framework.ExpectNoError(err)
	framework.TestContext.CloudConfig.NumNodes = len(nodes.Items)
	return nil
}, func(ctx context.Context, _ []byte) {
	framework.TestContext.IPFamily = "ipv4"
})

func main() {
	config.CopyFlags(config.Flags, flag.CommandLine)
	framework.RegisterCommonFlags(flag.CommandLine)
	framework.RegisterClusterFlags(flag.CommandLine)
	framework.RegisterProvider("gce", func() (framework.ProviderInterface, error) {
		return machines{at: os.Getenv("CAUSEWAY_E2E_MACHINES")}, nil
	})
	flag.Parse()
	framework.AfterReadingAllFlags(&framework.TestContext)
	gomega.RegisterFailHandler(framework.Fail)
	suite, reporter := framework.CreateGinkgoConfig()
	if !ginkgo.RunSpecs(outcome{}, "Kubernetes e2e: load balancers and nodes", suite, reporter) {
		os.Exit(1)
	}
}
