import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { apiGatewayCommand } from "./api-gateway/command.ts";
import { apiProxyCommand } from "./api-proxy/command.ts";
import { barbicanKmsCommand } from "./barbican-kms/command.ts";
import { cinderCsiCommand } from "./cinder-csi/command.ts";
import { cloudControllerManagerCommand } from "./cloud-controller-manager/command.ts";
import { clusterApiCommand } from "./cluster-api/command.ts";
import { clusterApiOpenStackCommand } from "./cluster-api-openstack/command.ts";
import { openStackOperatorCommand } from "./openstack-operator/command.ts";
import { hostedControlPlaneCommand } from "./hosted-control-plane/command.ts";
import { keystoneAuthCommand } from "./keystone-auth/command.ts";
import { tunnelAgentCommand } from "./tunnel-agent/command.ts";
import { tunnelServerCommand } from "./tunnel-server/command.ts";
import { octaviaIngressCommand } from "./octavia-ingress/command.ts";
import { manilaCsiCommand } from "./manila-csi/command.ts";
import { magnumApiCommand } from "./magnum-api/command.ts";

/** A component that `causeway run NAME` runs until a signal stops it. */
export interface Component {
  /** The subcommand. Its action imports the component's code, so that `run` loads no other component. */
  readonly command: (signal: AbortSignal) => CommandUnknownOpts;
  /** A command line for the help of `run`, from the component's name on. */
  readonly example: string;
}

/** Every component. To add one, write its folder next to this file and add its entry here. */
export const components: readonly Component[] = [
  {
    command: cloudControllerManagerCommand,
    example: "cloud-controller-manager --cloud-config cloud.conf --kubeconfig admin.conf",
  },
  {
    command: keystoneAuthCommand,
    example:
      "keystone-auth --keystone-url https://identity.example.org/v3 --tls-cert-file tls.crt --tls-private-key-file tls.key",
  },
  {
    command: barbicanKmsCommand,
    example: "barbican-kms --socketpath /var/lib/kms/kms.sock --cloud-config cloud.conf",
  },
  {
    command: clusterApiCommand,
    example: "cluster-api --kubeconfig admin.conf --install-crds",
  },
  {
    command: clusterApiOpenStackCommand,
    example: "cluster-api-openstack --kubeconfig admin.conf --install-crds",
  },
  {
    command: cinderCsiCommand,
    example: "cinder-csi --controller --endpoint unix:///csi/csi.sock --cloud-config cloud.conf",
  },
  {
    command: tunnelServerCommand,
    example:
      "tunnel-server --uds-name /run/tunnel/kas.sock --cluster-cert tls.crt --cluster-key tls.key --cluster-ca-cert agents.crt",
  },
  {
    command: tunnelAgentCommand,
    example:
      "tunnel-agent --proxy-server-host gateway.example.org --ca-cert ca.crt --agent-cert agent.crt --agent-key agent.key",
  },
  {
    command: octaviaIngressCommand,
    example: "octavia-ingress --config octavia-ingress-controller-config.yaml --kubeconfig admin.conf",
  },
  {
    command: manilaCsiCommand,
    example:
      "manila-csi --node --endpoint unix:///csi/csi.sock --share-protocol-selector NFS --fwdendpoint unix:///csi-nfs/csi.sock",
  },
  {
    command: magnumApiCommand,
    example: "magnum-api --keystone-url https://identity.example.org/v3 --kubeconfig management.kubeconfig",
  },
  { command: hostedControlPlaneCommand, example: "hosted-control-plane --kubeconfig management.kubeconfig" },
  { command: apiGatewayCommand, example: "api-gateway --bind-address :6443" },
  {
    command: apiProxyCommand,
    example: "api-proxy --gateways api.example.org:6443 --server-name web-5d2c.api.example.org",
  },
  { command: openStackOperatorCommand, example: "openstack-operator --kubeconfig admin.conf" },
];
