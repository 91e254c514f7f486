import { annotations } from "./annotations.ts";

/** [Networking] of cloud.conf: how the addresses of servers become addresses of nodes. */
export interface NetworkingConfig {
  readonly ipv6Disabled: boolean;
  readonly publicNetworks: readonly string[];
  readonly internalNetworks: readonly string[];
  /** CIDRs, the most wanted first. */
  readonly addressSortOrder: readonly string[];
}

/** What a LoadBalancerClass can replace. */
export interface LoadBalancerPlacement {
  readonly subnetId?: string;
  readonly memberSubnetId?: string;
  readonly networkId?: string;
  readonly floatingNetworkId?: string;
  readonly floatingSubnetId?: string;
  /** Name pattern: a glob, "~regex", a leading "!" negates. */
  readonly floatingSubnet?: string;
  /** Comma list: any; a leading "&": all; a leading "!": negated. */
  readonly floatingSubnetTags?: string;
}

/** [LoadBalancer] of cloud.conf. Durations in whole seconds. */
export interface LoadBalancerConfig extends LoadBalancerPlacement {
  readonly enabled: boolean;
  /** Undefined: ROUND_ROBIN, or SOURCE_IP_PORT where the provider knows nothing else. */
  readonly method?: "ROUND_ROBIN" | "LEAST_CONNECTIONS" | "SOURCE_IP" | "SOURCE_IP_PORT";
  /** Undefined: amphora where the cloud has it, else OVN, else the first it lists. */
  readonly provider?: string;
  readonly createMonitor: boolean;
  readonly monitor: {
    readonly delay: number;
    readonly timeout: number;
    readonly maxRetries: number;
    readonly maxRetriesDown: number;
  };
  readonly manageSecurityGroups: boolean;
  readonly internal: boolean;
  /** Label selector of nodes that may be members: "key=value,key". */
  readonly nodeSelector: string;
  readonly cascadeDelete: boolean;
  readonly flavorId?: string;
  readonly availabilityZone?: string;
  readonly enableIngressHostname: boolean;
  readonly ingressHostnameSuffix: string;
  readonly maxSharedLoadBalancers: number;
  readonly containerStore: string;
  readonly defaultTlsContainerRef: string;
  /** The provider takes no populated create and no batch of members. */
  readonly serialApiCalls: boolean;
  /** New nodes are members once they serve, and nodes have the annotation that says whether they may be members. */
  readonly followNodes: boolean;
  readonly classes: ReadonlyMap<string, LoadBalancerPlacement>;
}

/** [Metadata] of cloud.conf: where a node's agent finds its server's id. */
export interface MetadataConfig {
  readonly searchOrder: readonly ("configDrive" | "metadataService")[];
  /** Milliseconds. */
  readonly requestTimeout: number;
}

/** Everything of cloud.conf but [Global], which is the SDK's. */
export interface CloudControllerConfig {
  readonly networking: NetworkingConfig;
  readonly loadBalancer: LoadBalancerConfig;
  /** The Neutron router that carries pod routes; undefined: none does. */
  readonly routerId?: string;
  readonly metadata: MetadataConfig;
  /** Does the providerID carry the region (OS_CCM_REGIONAL)? */
  readonly regional: boolean;
}

/** The configuration of an empty cloud.conf, with cloud-provider-openstack's defaults. */
export function defaultCloudConfig(): CloudControllerConfig {
  return {
    networking: { ipv6Disabled: false, publicNetworks: [], internalNetworks: [], addressSortOrder: [] },
    loadBalancer: {
      enabled: true,
      createMonitor: annotations.enableHealthMonitor.default,
      monitor: {
        delay: annotations.healthMonitorDelay.default,
        timeout: annotations.healthMonitorTimeout.default,
        maxRetries: annotations.healthMonitorMaxRetries.default,
        maxRetriesDown: annotations.healthMonitorMaxRetriesDown.default,
      },
      manageSecurityGroups: false,
      internal: annotations.internal.default,
      nodeSelector: "",
      cascadeDelete: true,
      enableIngressHostname: false,
      ingressHostnameSuffix: "nip.io",
      maxSharedLoadBalancers: 2,
      containerStore: "barbican",
      defaultTlsContainerRef: "",
      serialApiCalls: false,
      followNodes: false,
      classes: new Map(),
    },
    metadata: { searchOrder: ["configDrive", "metadataService"], requestTimeout: 60_000 },
    regional: false,
  };
}
