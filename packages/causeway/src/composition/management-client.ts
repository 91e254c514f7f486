import { copyJson } from "@causeway/foundation";
import type { ApiServer } from "@causeway/apiserver";
import type { KubernetesClient } from "@causeway/kubernetes";

/** Whom the management kubeconfig names, too. */
const ADMINISTRATOR = { name: "kubernetes-admin", groups: ["system:masters"] };
/** Whose fields are those that a write without a manager changes: what `remote` says in its requests. */
const MANAGER = "causeway";

/**
 * A client of the management cluster for the controllers of this process, which also serves it: what they read and
 * write needs no connection (decision 0024). Answers are copies, so that callers may change them, as with `remote`;
 * what informers follow shares its contents with the store. Requests by path go over `remote`.
 */
export function managementClient(
  apiServer: Pick<ApiServer, "localClient">,
  remote: KubernetesClient,
): KubernetesClient {
  const local = apiServer.localClient(ADMINISTRATOR, MANAGER);
  return {
    server: remote.server,
    get: async (type, key, options) => copyJson(await local.get(type, key, options)),
    find: async (type, key, options) => copyJson(await local.find(type, key, options)),
    list: async (type, options) => copyJson(await local.list(type, options)),
    watch: (type, options) => remote.watch(type, options),
    follow: (type, scope, mirror, signal) => local.follow(type, scope, mirror, signal),
    create: async (type, object, options) => copyJson(await local.create(type, object, options)),
    update: async (type, object, options) => copyJson(await local.update(type, object, options)),
    patch: async (type, key, patch, options) => copyJson(await local.patch(type, key, patch, options)),
    apply: async (type, object, options) => copyJson(await local.apply(type, object, options)),
    delete: (type, key, options) => local.delete(type, key, options),
    request: (method, path, options) => remote.request(method, path, options),
    close: () => remote.close(),
  };
}
