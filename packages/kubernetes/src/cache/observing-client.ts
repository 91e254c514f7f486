import type { KubernetesClient } from "../client/interface.ts";
import type { KubeObject, ResourceType } from "../types/meta.ts";

type Observe = (type: ResourceType<KubeObject>, object: KubeObject) => void;

/** The same client, but the responses of its writes are passed to `observe`, which copies what it keeps. */
export function observing(client: KubernetesClient, observe: Observe): KubernetesClient {
  const seen = async <T extends KubeObject>(
    type: ResourceType<T>,
    answer: Promise<T>,
    options?: { subresource?: string; dryRun?: boolean },
  ): Promise<T> => {
    const object = await answer;
    // A subresource may answer with something else (Scale, TokenRequest, Eviction).
    if (!options?.dryRun && object.kind === type.kind && object.metadata.uid !== undefined) {
      observe(type as ResourceType<KubeObject>, object);
    }
    return object;
  };
  return {
    server: client.server,
    get: (type, key, options) => client.get(type, key, options),
    find: (type, key, options) => client.find(type, key, options),
    list: (type, options) => client.list(type, options),
    watch: (type, options) => client.watch(type, options),
    create: (type, object, options) => seen(type, client.create(type, object, options), options),
    update: (type, object, options) => seen(type, client.update(type, object, options), options),
    patch: (type, key, patch, options) => seen(type, client.patch(type, key, patch, options), options),
    apply: (type, object, options) => seen(type, client.apply(type, object, options), options),
    delete: (type, key, options) => client.delete(type, key, options),
    request: (method, path, options) => client.request(method, path, options),
    close: () => client.close(),
  };
}
