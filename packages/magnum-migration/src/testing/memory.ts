import { CausewayError } from "@causeway/foundation";
import {
  ConfigMap,
  type KubeObject,
  type KubernetesClient,
  type ObjectKey,
  type ResourceType,
} from "@causeway/kubernetes";

type Type = ResourceType<KubeObject>;

/** What a management cluster keeps of a migration, in memory, with optimistic locking. */
export class MemoryCluster {
  readonly #objects = new Map<string, KubeObject>();
  #revision = 0;

  /** `isDead`: its process was killed, so that nothing it does arrives. */
  client(isDead: () => boolean): KubernetesClient {
    const key = (
      { kind }: Pick<Type, "kind">,
      { namespace = "", name }: { namespace?: string; name: string },
    ): string => `${kind}/${namespace}/${name}`;
    const alive = (): void => {
      if (isDead()) throw new CausewayError("KUBERNETES_UNREACHABLE", "the process was killed");
    };
    const store = (type: Type, object: KubeObject): KubeObject => {
      this.#revision += 1;
      const kept = structuredClone(object);
      kept.metadata.resourceVersion = String(this.#revision);
      this.#objects.set(key(type, kept.metadata), kept);
      return structuredClone(kept);
    };
    const calls = {
      find: async (type: Type, at: ObjectKey) => {
        alive();
        return structuredClone(this.#objects.get(key(type, at)));
      },
      list: async () => {
        alive();
        const items = [...this.#objects.values()].filter(({ kind }) => kind === ConfigMap.kind);
        return { items: structuredClone(items) };
      },
      create: async (type: Type, object: KubeObject) => {
        alive();
        if (this.#objects.has(key(type, object.metadata)))
          throw new CausewayError("KUBERNETES_ALREADY_EXISTS", "it is there already");
        return store(type, object);
      },
      update: async (type: Type, object: KubeObject) => {
        alive();
        const found = this.#objects.get(key(type, object.metadata));
        if (found?.metadata.resourceVersion !== object.metadata.resourceVersion)
          throw new CausewayError("KUBERNETES_CONFLICT", "it has changed");
        return store(type, object);
      },
      apply: async (type: Type, object: KubeObject) => {
        alive();
        return store(type, object);
      },
      /** Of annotations. */
      patch: async (type: Type, at: ObjectKey, { body }: { body: Partial<KubeObject> }) => {
        alive();
        const found = this.#objects.get(key(type, at));
        if (found === undefined) throw new CausewayError("KUBERNETES_NOT_FOUND", "it is not there");
        const annotations = { ...found.metadata.annotations, ...body.metadata?.annotations };
        return store(type, { ...found, metadata: { ...found.metadata, annotations } });
      },
      delete: async (type: Type, at: ObjectKey) => {
        alive();
        this.#objects.delete(key(type, at));
      },
    };
    return calls as unknown as KubernetesClient;
  }
}
