// flannel as a cluster's overlay network needs it: subnets from Kubernetes, the backend vxlan, nftables. Its other
// backends need C, or the SDK of a cloud. Flags and files are those of flanneld.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/flannel-io/flannel/pkg/backend"
	_ "github.com/flannel-io/flannel/pkg/backend/vxlan"
	"github.com/flannel-io/flannel/pkg/ip"
	"github.com/flannel-io/flannel/pkg/ipmatch"
	"github.com/flannel-io/flannel/pkg/subnet"
	"github.com/flannel-io/flannel/pkg/subnet/kube"
	"github.com/flannel-io/flannel/pkg/trafficmngr/nftables"
	log "k8s.io/klog/v2"
)

const resyncSeconds = 5

type options struct {
	annotationPrefix, netConfig, subnetFile string
	ipMasq, kubeSubnetManager               bool
}

func main() {
	opts := options{}
	flag.StringVar(&opts.annotationPrefix, "kube-annotation-prefix", "flannel.alpha.coreos.com", "prefix of the annotations of Nodes")
	flag.StringVar(&opts.netConfig, "net-config-path", "/etc/kube-flannel/net-conf.json", "the network configuration")
	flag.StringVar(&opts.subnetFile, "subnet-file", "/run/flannel/subnet.env", "where the subnet and the MTU are written")
	flag.BoolVar(&opts.ipMasq, "ip-masq", false, "masquerade what leaves the overlay network")
	flag.BoolVar(&opts.kubeSubnetManager, "kube-subnet-mgr", false, "read subnets from Kubernetes; required")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, opts); err != nil && !errors.Is(err, context.Canceled) {
		log.Error(err)
		log.Flush()
		os.Exit(1)
	}
}

func run(ctx context.Context, opts options) error {
	if !opts.kubeSubnetManager {
		return errors.New("this flanneld needs --kube-subnet-mgr")
	}
	manager, err := kube.NewSubnetManager(ctx, "", "", opts.annotationPrefix, opts.netConfig, true)
	if err != nil {
		return fmt.Errorf("no subnet manager: %w", err)
	}
	config, err := configOf(ctx, manager)
	if err != nil {
		return err
	}
	if !config.EnableNFTables {
		return errors.New("this flanneld needs EnableNFTables in its network configuration")
	}
	network, wg, err := register(ctx, manager, config)
	if err != nil {
		return err
	}
	if err := setRules(ctx, config, network, opts); err != nil {
		return err
	}
	lease := network.Lease()
	if err := manager.HandleSubnetFile(opts.subnetFile, config, opts.ipMasq, lease.Subnet, lease.IPv6Subnet, network.MTU()); err != nil {
		return fmt.Errorf("the subnet cannot be written: %w", err)
	}
	wg.Add(1)
	go func() {
		defer wg.Done()
		network.Run(ctx)
	}()
	err = manager.CompleteLease(ctx, lease, wg)
	wg.Wait()
	return err
}

// configOf waits until the configuration can be read.
func configOf(ctx context.Context, manager subnet.Manager) (*subnet.Config, error) {
	for {
		config, err := manager.GetNetworkConfig(ctx)
		if err == nil && config != nil {
			return config, nil
		}
		log.Warningf("no network configuration yet: %v", err)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// register makes the VXLAN device on the interface of the default route and publishes it on the Node.
func register(ctx context.Context, manager subnet.Manager, config *subnet.Config) (backend.Network, *sync.WaitGroup, error) {
	stack, err := ipmatch.GetIPFamily(config.EnableIPv4, config.EnableIPv6)
	if err != nil {
		return nil, nil, err
	}
	public, publicIPv6 := manager.GetStoredPublicIP(ctx)
	device, err := ipmatch.LookupExtIface(public, "", "", stack, ipmatch.PublicIPOpts{PublicIP: public, PublicIPv6: publicIPv6})
	if err != nil {
		return nil, nil, fmt.Errorf("no interface between nodes: %w", err)
	}
	made, err := backend.NewManager(ctx, manager, device).GetBackend(config.BackendType)
	if err != nil {
		return nil, nil, err
	}
	wg := &sync.WaitGroup{}
	network, err := made.RegisterNetwork(ctx, wg, config)
	return network, wg, err
}

// setRules keeps the rules that forward and masquerade.
func setRules(ctx context.Context, config *subnet.Config, network backend.Network, opts options) error {
	rules := &nftables.NFTablesManager{}
	if err := rules.Init(ctx); err != nil {
		return err
	}
	if opts.ipMasq {
		err := rules.SetupAndEnsureMasqRules(ctx, config.Network, ip.IP4Net{}, ip.IP4Net{},
			config.IPv6Network, ip.IP6Net{}, ip.IP6Net{}, network.Lease(), resyncSeconds, false)
		if err != nil {
			return err
		}
	}
	rules.SetupAndEnsureForwardRules(ctx, config.Network, config.IPv6Network, resyncSeconds)
	return nil
}
