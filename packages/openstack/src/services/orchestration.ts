import { isOpenStackNotFound } from "../errors/predicates.ts";
import type { ServiceClient, ServiceCall } from "../session/client.ts";
import type { CallOptions } from "../types/collection.ts";
import type * as O from "../types/orchestration.ts";
import { createCollection, ignoringNotFound } from "./collection.ts";
import { listIn, objectIn } from "./wire.ts";

const STACK = "/stacks/{id}/{id}";

/**
 * Heat. A stack's route has its name and its id; one read by either is found through the list, for redirects are not
 * followed.
 */
export function createOrchestrationService(client: ServiceClient): O.OrchestrationService {
  const stacks = createCollection<O.Stack, O.StackCreate>(client, { route: "/stacks", one: "stack", many: "stacks" });
  const at = (stack: O.StackReference, below = ""): Pick<ServiceCall, "route" | "ids"> => ({
    route: `${STACK}${below}`,
    ids: [stack.stack_name, stack.id],
  });
  const read = (stack: O.StackReference, below: string, options?: CallOptions) =>
    client.send({ method: "GET", ...at(stack, below) }, options);

  const named = async (idOrName: string, options?: CallOptions): Promise<O.StackReference | undefined> => {
    const [byId] = await stacks.all({ id: idOrName }, options);
    return byId ?? (await stacks.all({ name: idOrName }, options))[0];
  };
  const stack: O.OrchestrationService["stack"] = async (idOrName, options) => {
    const reference = (await named(idOrName, options)) ?? { id: idOrName, stack_name: idOrName };
    return objectIn(await read(reference, "", options), "stack");
  };

  return {
    stacks: (query, options) => stacks.list(query, options),
    stack,
    async find(idOrName, options) {
      try {
        return await stack(idOrName, options);
      } catch (error) {
        if (isOpenStackNotFound(error)) return undefined;
        throw error;
      }
    },
    create: (body, options = {}) =>
      client.create({ method: "POST", route: "/stacks", body, read: (a) => objectIn(a, "stack"), options }),
    async update(reference, body, { keep = false, ...options } = {}) {
      await client.send({ method: keep ? "PATCH" : "PUT", ...at(reference), body }, options);
    },
    delete: (reference, options) => ignoringNotFound(client.send({ method: "DELETE", ...at(reference) }, options)),
    async resources(reference, { depth = 0, ...options } = {}) {
      const query = depth > 0 ? { nested_depth: depth } : {};
      return listIn(await client.send({ method: "GET", ...at(reference, "/resources"), query }, options), "resources");
    },
    async resource(reference, name, options) {
      const { route, ids = [] } = at(reference, "/resources/{id}");
      return objectIn(await client.send({ method: "GET", route, ids: [...ids, name] }, options), "resource");
    },
    events: (reference, query, options) =>
      createCollection<O.StackEvent, never>(client, {
        route: `${STACK}/events`,
        parents: [reference.stack_name, reference.id],
        one: "event",
        many: "events",
      }).list(query, options),
    template: async (reference, options) => objectIn(await read(reference, "/template", options), ""),
    environment: async (reference, options) => objectIn(await read(reference, "/environment", options), ""),
    async abandon(reference, options) {
      return objectIn(await client.send({ method: "DELETE", ...at(reference, "/abandon") }, options), "");
    },
  };
}
