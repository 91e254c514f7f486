import { unlessAborted } from "@causeway/foundation";
import type { Cloud, CloudWatch } from "@causeway/openstack";
import { groupPrefix } from "./names.ts";

/**
 * Security groups from a time when they were managed. Where they are not managed now, one list at the start finds
 * whether any exist: a cluster that never had them pays no polling for them.
 */
export class Leftovers {
  readonly #cloud: Cloud;
  readonly #watch: CloudWatch;
  #names: Promise<ReadonlySet<string>> | undefined;

  constructor(cloud: Cloud, watch: CloudWatch) {
    this.#cloud = cloud;
    this.#watch = watch;
  }

  async has(name: string, signal: AbortSignal): Promise<boolean> {
    if (this.#watch.securityGroups.synced) return this.#watch.securityGroups.byIndex("name", name).length > 0;
    this.#names ??= this.#list().catch((error: unknown) => {
      this.#names = undefined;
      throw error;
    });
    return (await unlessAborted(this.#names, signal)).has(name);
  }

  async #list(): Promise<ReadonlySet<string>> {
    const project = await this.#cloud.projectId();
    const all = await this.#cloud.network.securityGroups.all({ project_id: project });
    return new Set(all.map((group) => group.name).filter((name) => name.startsWith(groupPrefix)));
  }
}
