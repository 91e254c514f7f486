/** A port as other services see it. */
export interface LinkedPort {
  readonly id: string;
  readonly project_id: string;
  readonly network_id: string;
  readonly mac_address: string;
  readonly fixed_ips: readonly { readonly subnet_id: string; readonly ip_address: string }[];
  readonly device_id: string;
  readonly device_owner: string;
  readonly status: string;
}

/**
 * What is requested of a port. One of `network_id` and `subnet_id` is needed; the address is the one that the caller
 * requests.
 */
export interface PortRequest {
  readonly network_id?: string;
  readonly subnet_id?: string;
  readonly ip_address?: string;
  /** Addresses on further subnets, in addition to the first. */
  readonly more_ips?: readonly { readonly subnet_id: string; readonly ip_address?: string }[];
  readonly name?: string;
  readonly device_id?: string;
  readonly device_owner?: string;
  /** Default true. */
  readonly admin_state_up?: boolean;
  /** Undefined: the project's default group. */
  readonly security_groups?: readonly string[];
}

/** One address of a server: what Nova prints under its network's name. */
export interface ServerAddress {
  readonly network: string;
  readonly addr: string;
  readonly version: 4 | 6;
  readonly mac_address: string;
  readonly port_id: string;
  readonly kind: "fixed" | "floating";
}

/** A security group and its rules for incoming traffic, as Nova returns them. */
export interface LinkedGroup {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly project_id: string;
  readonly rules: readonly LinkedRule[];
}

/** A rule as `os-security-groups` shows it; `from` and `to` are the range of ports. */
export interface LinkedRule {
  readonly id: string;
  readonly protocol: string | null;
  readonly from: number | null;
  readonly to: number | null;
  /** Name of the group that traffic may come from. */
  readonly group: string | undefined;
  readonly cidr: string | undefined;
}

/** What the network service does for Nova and Octavia. Calls are synchronous; errors are the network service's own. */
export interface NetworkLinks {
  /**
   * Creates a port in the project; throws what POST /v2.0/ports would respond (quota, no address left, no such
   * network).
   */
  createPort(projectId: string, request: PortRequest): LinkedPort;
  /**
   * Binds a port to a server: device_id, device_owner "compute:ZONE", host. Its status remains DOWN until
   * `activatePort`.
   */
  bindPort(id: string, serverId: string, zone: string): void;
  /** ACTIVE, as when the server runs. Nothing if the port is gone. */
  activatePort(id: string): void;
  /** Frees a port: no device, no owner, status DOWN. Nothing if the port is gone. */
  unbindPort(id: string): void;
  /** Deletes a port whatever owns it, with the floating IPs' association. Nothing if the port is gone. */
  deletePort(id: string): void;
  port(id: string): LinkedPort | undefined;
  /**
   * Ports whose device is this server (or other device): those of `first` in that order, then the others, oldest first.
   */
  portsOf(deviceId: string, first?: readonly string[]): readonly LinkedPort[];
  /**
   * Name of a network that the project may see (own, shared; external for admins), by id; undefined if there is none.
   */
  networkName(id: string, projectId?: string): string | undefined;
  /** Networks on which a server without any wish would get a port: those of the project, then the shared ones. */
  networksOf(projectId: string): readonly string[];
  /** All addresses of a server, fixed before floating, in the order of its ports; `first` as for `portsOf`. */
  serverAddresses(serverId: string, first?: readonly string[]): readonly ServerAddress[];
  /** True if the security group (id or name) exists in the project. */
  hasSecurityGroup(projectId: string, idOrName: string): boolean;
  /** Adds a group (id or name, of the port's project) to a port or takes it away; false if that changes nothing. */
  changeSecurityGroup(portId: string, change: { readonly verb: "add" | "remove"; readonly group: string }): boolean;
  /** The project's security groups; of all projects without one. */
  securityGroups(projectId?: string): readonly LinkedGroup[];
  /** Names of the security groups on a port. */
  securityGroupNames(portId: string): readonly string[];
}
