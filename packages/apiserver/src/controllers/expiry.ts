import type { KubeObject } from "@causeway/kubernetes";
import { bootstrapToken } from "../auth/bootstrap-tokens.ts";
import type { Cluster } from "../contract/cluster.ts";
import { fields, text } from "../json/json.ts";
import { internalCall } from "../contract/call.ts";
import { remove } from "../registry/delete.ts";
import { builtIn, type Controller } from "../contract/controller.ts";
import { deadlines } from "./deadlines.ts";
import { startLoop } from "./loop.ts";
import { ignoreMissing } from "./namespaces.ts";

const EVENT_LIFETIME = 60 * 60_000;

interface ExpiryRule {
  readonly name: string;
  readonly storage: string;
  readonly plural: string;
  /** When the object is to go, by what it says; undefined: never. */
  due(object: KubeObject): number | undefined;
}

function expiryController(cluster: Cluster, expiring: ExpiryRule): Controller {
  const { name, storage, plural } = expiring;
  const resource = builtIn(cluster, "", plural);
  const loop = startLoop({
    name,
    cluster,
    async reconcile(key) {
      const [namespace = "", objectName = ""] = key.split("/");
      const stored = cluster.store.get({ cluster: cluster.name, resource: storage, namespace, name: objectName });
      const at = stored && expiring.due(stored.object);
      if (!stored || at === undefined) return;
      if (at > cluster.clock.now()) return timer.set(key, at);
      const { uid = "" } = stored.object.metadata;
      await remove(internalCall(cluster, resource, { namespace, name: objectName }), { uid }).catch(ignoreMissing);
    },
  });
  const timer = deadlines(cluster.clock, (key) => loop.add(key));
  const note = (object: KubeObject): void => {
    timer.set(`${object.metadata.namespace ?? ""}/${object.metadata.name}`, expiring.due(object));
  };
  return {
    saw({ resource: written, object, type }) {
      if (written.storage !== storage) return;
      if (type === "DELETED") timer.set(`${object.metadata.namespace ?? ""}/${object.metadata.name}`, undefined);
      else note(object);
    },
    resume() {
      for (const { object } of cluster.store.list({ cluster: cluster.name, resource: storage }).items) note(object);
    },
    stop() {
      timer.stop();
      return loop.stop();
    },
  };
}

/** Events go an hour after their last write. */
export function eventExpiry(cluster: Cluster): Controller {
  return expiryController(cluster, {
    name: "event-expiry",
    storage: "/events",
    plural: "events",
    due(object) {
      const { lastTimestamp, eventTime } = fields(object);
      const last = text(lastTimestamp) || text(eventTime) || text(object.metadata.creationTimestamp);
      return (Date.parse(last) || cluster.clock.now()) + EVENT_LIFETIME;
    },
  });
}

/** Bootstrap tokens go when they expire. */
export function tokenCleaner(cluster: Cluster): Controller {
  return expiryController(cluster, {
    name: "token-cleaner",
    storage: "/secrets",
    plural: "secrets",
    due: (object) => (object.metadata.namespace === "kube-system" ? bootstrapToken(object)?.expires : undefined),
  });
}
