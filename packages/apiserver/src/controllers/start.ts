import type { Cluster } from "../clusters/cluster.ts";
import type { MakeController } from "./controller.ts";
import { namespaceContentsController } from "./namespace-contents.ts";
import { namespaceController } from "./namespaces.ts";

const CONTROLLERS: readonly MakeController[] = [namespaceController, namespaceContentsController];

/** Starts the server's own controllers for one cluster. They cost nothing while nothing is written. */
export function startControllers(cluster: Cluster): { stop(): Promise<void> } {
  const controllers = CONTROLLERS.map((make) => make(cluster));
  const stopListening = cluster.changes.listen((change) => controllers.forEach((c) => c.saw(change)));
  for (const controller of controllers) controller.resume();
  return {
    async stop() {
      stopListening();
      await Promise.all(controllers.map((c) => c.stop()));
    },
  };
}
