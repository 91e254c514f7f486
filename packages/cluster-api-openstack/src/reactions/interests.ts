import type { ObjectKey } from "@causeway/kubernetes";
import type { CloudChange, CloudInformer, CloudWatch } from "@causeway/openstack";

/**
 * Which objects a change in a cloud concerns. Each object registers the names and ids of its resources;
 * a change finds objects by these, so that its cost does not depend on the number of objects.
 */
export class Interests {
  readonly #keys = new Map<string, Map<string, ObjectKey>>();
  readonly #values = new Map<string, readonly string[]>();
  #enqueue: ((key: ObjectKey) => void) | undefined;

  /** A source for a controller. */
  readonly source = (enqueue: (key: ObjectKey) => void): (() => void) => {
    this.#enqueue = enqueue;
    return () => {
      this.#enqueue = undefined;
    };
  };

  /** Replaces what an object is interested in. */
  set(key: ObjectKey, values: Iterable<string | undefined>): void {
    this.clear(key);
    const id = `${key.namespace}/${key.name}`;
    const list = [...new Set(values)].filter((value) => value !== undefined && value !== "") as string[];
    for (const value of list) {
      const keys = this.#keys.get(value) ?? new Map<string, ObjectKey>();
      keys.set(id, key);
      this.#keys.set(value, keys);
    }
    this.#values.set(id, list);
  }

  clear(key: ObjectKey): void {
    const id = `${key.namespace}/${key.name}`;
    for (const value of this.#values.get(id) ?? []) {
      const keys = this.#keys.get(value);
      keys?.delete(id);
      if (keys?.size === 0) this.#keys.delete(value);
    }
    this.#values.delete(id);
  }

  /** The objects interested in any of the values. */
  of(values: Iterable<string>): ObjectKey[] {
    const found = new Map<string, ObjectKey>();
    for (const value of values) for (const [id, key] of this.#keys.get(value) ?? []) found.set(id, key);
    return [...found.values()];
  }

  /** Listens to informers of a project. Starts none of them. */
  listen(watch: CloudWatch, types: readonly (keyof CloudWatch)[]): void {
    for (const type of types) {
      const informer = watch[type];
      if (typeof informer === "function") continue;
      (informer as CloudInformer<{ id: string }>).onChange((change) => this.#take(change));
    }
  }

  /** Something outside the cloud that has one of the values has changed. */
  notify(values: Iterable<string>): void {
    for (const key of this.of(values)) this.#enqueue?.(key);
  }

  #take({ object, previous }: CloudChange<{ id: string }>): void {
    const values = [...valuesOf(object), ...(previous ? valuesOf(previous) : [])];
    for (const key of this.of(values)) this.#enqueue?.(key);
  }
}

const fields = ["id", "name", "device_id", "floating_ip_address"] as const;
const places = ["network_id", "vip_subnet_id"] as const;

/** The value of a port with this description: it is apart, since a cluster is not to be woken by each of its ports. */
export const portsDescribed = (description: string): string => `port:${description}`;

/**
 * The names by which a resource may be known; "on:ID" says that it is on a network or a subnet, "port:TEXT" that it is
 * a port (it has a device_owner) with this description.
 */
export function valuesOf(resource: object): string[] {
  const record = resource as Readonly<Record<string, unknown>>;
  const text = (value: unknown) => (typeof value === "string" && value !== "" ? [value] : []);
  const described = "device_owner" in record ? portsDescribed : (description: string) => description;
  return [
    ...fields.flatMap((field) => text(record[field])),
    ...text(record["description"]).map(described),
    ...places.flatMap((f) => text(record[f]).map((v) => `on:${v}`)),
  ];
}
