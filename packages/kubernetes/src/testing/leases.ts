import { randomUUID } from "node:crypto";
import { CausewayError } from "@causeway/foundation";
import type { ApplyConfiguration, DeleteOptions, KubernetesClient, ListOptions } from "../client/interface.ts";
import type { ObjectKey, ResourceType } from "../types/meta.ts";
import type { Lease } from "../types/access.ts";

/** The Leases of one namespace with optimistic locking, shared by several clients. */
export class Leases {
  readonly objects = new Map<string, Lease>();
  #revision = 0;

  /** A client whose calls first await `before`; throw there to have them refused. */
  client(before: () => Promise<void> | void = () => {}): KubernetesClient {
    const calls = {
      find: async (_type: ResourceType<Lease>, key: ObjectKey) => {
        await before();
        return structuredClone(this.objects.get(key.name));
      },
      create: async (_type: ResourceType<Lease>, lease: Lease) => {
        await before();
        if (this.objects.has(lease.metadata.name)) throw new CausewayError("KUBERNETES_ALREADY_EXISTS", "it exists");
        return this.#store(lease);
      },
      update: async (_type: ResourceType<Lease>, lease: Lease) => {
        await before();
        const { name, resourceVersion } = lease.metadata;
        if (this.objects.get(name)?.metadata.resourceVersion !== resourceVersion)
          throw new CausewayError("KUBERNETES_CONFLICT", "it has changed");
        return this.#store(lease);
      },
      apply: async (_type: ResourceType<Lease>, lease: ApplyConfiguration<Lease>) => {
        await before();
        const { metadata } = this.objects.get(lease.metadata.name) ?? {};
        return this.#store({ ...lease, metadata: { ...metadata, ...lease.metadata } } as Lease);
      },
      list: async (_type: ResourceType<Lease>, { labelSelector = "" }: ListOptions) => {
        await before();
        const [label = "", value] = labelSelector.split("=");
        const items = [...this.objects.values()].filter(({ metadata }) => metadata.labels?.[label] === value);
        return { items: structuredClone(items), metadata: {} };
      },
      delete: async (_type: ResourceType<Lease>, key: ObjectKey, { preconditions }: DeleteOptions = {}) => {
        await before();
        const version = this.objects.get(key.name)?.metadata.resourceVersion;
        if (preconditions?.resourceVersion !== undefined && version !== preconditions.resourceVersion)
          throw new CausewayError("KUBERNETES_CONFLICT", "it has changed");
        this.objects.delete(key.name);
      },
    };
    return calls as unknown as KubernetesClient;
  }

  #store(lease: Lease): Lease {
    this.#revision++;
    const { creationTimestamp, uid } = lease.metadata;
    const made = {
      uid: uid ?? randomUUID(),
      // Whole numbers of one length sort as times do.
      creationTimestamp: creationTimestamp ?? String(this.#revision).padStart(9, "0"),
      resourceVersion: String(this.#revision),
    };
    const stored = { ...structuredClone(lease), metadata: { ...lease.metadata, ...made } };
    this.objects.set(lease.metadata.name, stored);
    return structuredClone(stored);
  }
}
