import { unlessAborted } from "@causeway/foundation";
import type { Node } from "@causeway/kubernetes";
import type { Cloud, CloudWatch, Port, SecurityGroup } from "@causeway/openstack";
import { GROUP_TAG, OWNER_TAG, type Owner } from "../../names.ts";
import type { ObservedGroup } from "./observed.ts";

/** What the security group of an owner's load balancer is on. */
export interface GroupFrom {
  readonly owner: Owner;
  /** Members' nodes; empty when the owner goes. */
  readonly nodes: readonly Node[];
  /** Addresses of pods on Neutron ports that are members. */
  readonly pods: readonly string[];
  readonly subnetId: string;
}

/** Where security groups are not managed, one list at the start shows whether an earlier configuration left any. */
export class GroupReader {
  readonly #cloud: Cloud;
  readonly #watch: CloudWatch;
  readonly #managed: boolean;
  readonly #cidrs = new Map<string, Promise<string | undefined>>();
  #left: Promise<boolean> | undefined;

  constructor(cloud: Cloud, watch: CloudWatch, managed: boolean) {
    this.#cloud = cloud;
    this.#watch = watch;
    this.#managed = managed;
  }

  get managed(): boolean {
    return this.#managed;
  }

  /** Undefined: not managed, and there are none. */
  async of({ owner, nodes, pods, subnetId }: GroupFrom, signal: AbortSignal): Promise<ObservedGroup | undefined> {
    if (!this.#managed && !(await this.#anyLeft(signal))) return undefined;
    const { securityGroups, ports } = this.#watch;
    await Promise.all([securityGroups.start(signal), ports.start(signal)]);
    const groups = this.#groupsOf(owner);
    const ids = new Set(groups.map(({ id }) => id));
    const has = (port: Port): boolean => port.security_groups.some((id) => ids.has(id));
    return {
      managed: this.#managed,
      groups,
      memberPorts: [
        ...nodes.flatMap((node) => this.#portsOf(node)),
        ...pods.flatMap((address) => ports.byIndex("address", address)),
      ],
      grouped: ids.size === 0 ? [] : ports.list().filter(has),
      cidr: this.#managed ? await this.cidr(subnetId, signal) : undefined,
    };
  }

  /**
   * The one with the owner's tag first. One of the owner's name without an owner is upstream's, or was not tagged yet.
   */
  #groupsOf({ groupName, groupDescription, tag }: Owner): SecurityGroup[] {
    const { securityGroups } = this.#watch;
    const named = securityGroups
      .byIndex("name", groupName)
      .filter(
        ({ tags, description }) => description === groupDescription && !tags.some((each) => OWNER_TAG.test(each)),
      );
    const tagged = securityGroups.byIndex("tag", tag).filter(({ tags }) => tags.includes(GROUP_TAG));
    const byId = (a: SecurityGroup, b: SecurityGroup): number => (a.id < b.id ? -1 : 1);
    return [...tagged.toSorted(byId), ...named.toSorted(byId)];
  }

  #portsOf({ spec }: Node): readonly Port[] {
    const server = /^openstack:\/\/[^/]*\/([^/]+)$/.exec(spec?.providerID ?? "")?.[1];
    return server === undefined ? [] : this.#watch.ports.byIndex("device", server);
  }

  /** A subnet's CIDR is immutable. */
  /** Of the subnet; read once. Undefined: there is no such subnet. */
  async cidr(subnetId: string, signal: AbortSignal): Promise<string | undefined> {
    const known = this.#cidrs.get(subnetId);
    const read = known ?? this.#cloud.network.subnets.find(subnetId).then((subnet) => subnet?.cidr);
    if (!known) this.#cidrs.set(subnetId, read);
    const forget = (): boolean => this.#cidrs.delete(subnetId);
    read.then((cidr) => cidr ?? forget(), forget);
    return unlessAborted(read, signal);
  }

  /** Begins to read what the first reconcile needs. */
  async readAhead(signal: AbortSignal): Promise<void> {
    const { securityGroups, ports } = this.#watch;
    if (this.#managed) await Promise.all([securityGroups.start(signal), ports.start(signal)]);
    else await this.#anyLeft(signal);
  }

  async #anyLeft(signal: AbortSignal): Promise<boolean> {
    this.#left ??= this.#cloud.network.securityGroups.all({ tags: GROUP_TAG }).then((found) => found.length > 0);
    this.#left.catch(() => (this.#left = undefined));
    return unlessAborted(this.#left, signal);
  }
}
