// Package example runs gophercloud on a simulated cloud that a container runs.
package example

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

func image() string {
	if named := os.Getenv("CAUSEWAY_IMAGE"); named != "" {
		return named
	}
	return "causeway:test"
}

func TestNetwork(t *testing.T) {
	ctx := context.Background()
	cloud, err := testcontainers.Run(ctx, image(),
		testcontainers.WithCmd("cloud", "--bind-address", "0.0.0.0", "--insecure", "--port", "5000"),
		testcontainers.WithExposedPorts("5000/tcp"),
		testcontainers.WithWaitStrategy(wait.ForHTTP("/_control/clouds.yaml").WithPort("5000/tcp")),
	)
	testcontainers.CleanupContainer(t, cloud)
	if err != nil {
		t.Fatal(err)
	}
	port, err := cloud.MappedPort(ctx, "5000/tcp")
	if err != nil {
		t.Fatal(err)
	}
	provider, err := openstack.AuthenticatedClient(ctx, gophercloud.AuthOptions{
		IdentityEndpoint: fmt.Sprintf("http://127.0.0.1:%s/identity/v3", port.Port()),
		Username:         "demo", Password: "devcloud", DomainName: "Default", TenantName: "demo",
	})
	if err != nil {
		t.Fatal(err)
	}
	client, err := openstack.NewNetworkV2(provider, gophercloud.EndpointOpts{Region: "RegionOne"})
	if err != nil {
		t.Fatal(err)
	}
	created, err := networks.Create(ctx, client, networks.CreateOpts{Name: "web"}).Extract()
	if err != nil {
		t.Fatal(err)
	}
	if created.Name != "web" {
		t.Errorf("the network is named %q, not web", created.Name)
	}
}
