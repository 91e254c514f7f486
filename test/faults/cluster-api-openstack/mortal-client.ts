import type { InProcessClient } from "@causeway/apiserver";
import { CausewayError, copyJson } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";
import type { UnderWay } from "../cloud-controller/driven-clock.ts";

/** What a process has of the server. */
export interface Access {
  readonly client: KubernetesClient;
  /** As SIGKILL: nothing of the process reaches the server any more, and no response reaches it. */
  kill(): void;
}

/**
 * A client without connections (decision 0024) of a process that may be killed; its calls count as under way. A call
 * that the server had begun when the process was killed has its effect there, and fails here. Requests by path go over
 * `remote`.
 */
export function mortalClient(local: InProcessClient, remote: KubernetesClient, underWay: UnderWay): Access {
  let dead = false;
  const check = (): void => {
    if (dead) throw new CausewayError("KUBERNETES_UNREACHABLE", "The process was killed");
  };
  /** Responses are copies, as over a connection. */
  const call = async <T>(work: () => Promise<T>): Promise<T> => {
    check();
    const result = await underWay.during(work());
    check();
    return result === undefined ? result : copyJson(result);
  };
  const client: KubernetesClient = {
    server: remote.server,
    get: (type, key, options) => call(() => local.get(type, key, options)),
    find: (type, key, options) => call(() => local.find(type, key, options)),
    list: (type, options) => call(() => local.list(type, options)),
    watch: (type, options) => remote.watch(type, options),
    follow: (type, scope, mirror, signal) =>
      local.follow(
        type,
        scope,
        {
          replace: (list) => void (dead || mirror.replace(list)),
          onEvent: (event) => void (dead || mirror.onEvent(event)),
        },
        signal,
      ),
    create: (type, object, options) => call(() => local.create(type, object, options)),
    update: (type, object, options) => call(() => local.update(type, object, options)),
    patch: (type, key, patch, options) => call(() => local.patch(type, key, patch, options)),
    apply: (type, object, options) => call(() => local.apply(type, object, options)),
    delete: (type, key, options) => call(() => local.delete(type, key, options)),
    request: (method, path, options) => remote.request(method, path, options),
    close: () => remote.close(),
  };
  return {
    client,
    kill: () => {
      dead = true;
    },
  };
}
