import type { Clock } from "@causeway/foundation";
import type { Change, Node, ObjectKey, Source } from "@causeway/kubernetes";
import { eligibleNodes, nodeAddress } from "../parameters/desired.ts";

/** Milliseconds between two reconciles of all Services while nodes change one after the other. */
const pause = 250;

interface NodeChanges {
  readonly nodes: { onChange(handler: (change: Change<Node>) => void): () => void };
  /** Called for each change that counts. */
  readonly changed: () => void;
  /** The Services that have the nodes as members. */
  readonly keys: () => readonly ObjectKey[];
  readonly clock: Clock;
}

/**
 * Nodes change all the time; only what makes them members or not counts. The first such change reconciles the Services
 * at once, those that follow do so together: a plan compares all members with all nodes, and a hundred nodes that are
 * replaced are two hundred changes.
 */
export function nodeChanges({ nodes, changed, keys, clock }: NodeChanges): Source {
  return (enqueue) => {
    const stopping = new AbortController();
    let resting = false;
    let waiting = false;
    const pass = (): void => {
      waiting = false;
      resting = true;
      keys().forEach(enqueue);
      clock.sleep(pause, stopping.signal).then(rested, () => {});
    };
    const rested = (): void => {
      resting = false;
      if (waiting) pass();
    };
    const stop = nodes.onChange((change) => {
      const now = change.type === "deleted" ? "" : membership(change.object);
      const before = membership(change.type === "deleted" ? change.object : change.previous);
      if (now === before) return;
      changed();
      if (resting) waiting = true;
      else pass();
    });
    return () => {
      stopping.abort();
      stop();
    };
  };
}

/** What of a node decides whether, and as what, it is a member. */
function membership(node: Node | undefined): string {
  if (node === undefined) return "";
  const addresses = [nodeAddress(node, "IPv4"), nodeAddress(node, "IPv6")];
  return JSON.stringify([eligibleNodes([node], "").length, ...addresses, node.metadata.labels]);
}
