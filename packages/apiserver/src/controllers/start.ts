import type { Cluster } from "../contract/cluster.ts";
import type { Change } from "../contract/changes.ts";
import { apiEndpoint } from "./api-endpoint.ts";
import { accountSecrets } from "./account-secrets.ts";
import { bootstrapSigner } from "./bootstrap-signer.ts";
import { certificateSigner } from "./certificate-signer.ts";
import type { MakeController } from "../contract/controller.ts";
import { definitionController } from "./definitions.ts";
import { eventExpiry, tokenCleaner } from "./expiry.ts";
import { flowController } from "./flow-control.ts";
import { garbageCollector } from "./garbage-collector.ts";
import { namespaceContentsController } from "./namespace-contents.ts";
import { namespaceController } from "./namespaces.ts";
import { serviceRanges } from "./service-ranges.ts";
import { resourceQuotas } from "./resource-quota.ts";
import { roleAggregation } from "./role-aggregation.ts";

const CONTROLLERS: readonly MakeController[] = [
  namespaceController,
  namespaceContentsController,
  definitionController,
  garbageCollector,
  certificateSigner,
  bootstrapSigner,
  accountSecrets,
  tokenCleaner,
  eventExpiry,
  roleAggregation,
  resourceQuotas,
  flowController,
  serviceRanges,
  apiEndpoint,
];

/**
 * Starts the server's own controllers for one cluster. They cost nothing while nothing is written, and do nothing
 * before `resume`.
 */
export function startControllers(cluster: Cluster): { resume(): void; stop(): Promise<void> } {
  const controllers = CONTROLLERS.map((make) => make(cluster));
  let held: Change[] | undefined = [];
  const holder = { cluster: cluster.name, request: "controllers" };
  const dispatch = (change: Change): void =>
    cluster.thread.run(holder, () => controllers.forEach((c) => c.saw(change)));
  const stopListening = cluster.changes.listen((change) => (held ? void held.push(change) : dispatch(change)));
  return {
    resume() {
      const before = held ?? [];
      held = undefined;
      before.forEach(dispatch);
      for (const controller of controllers) controller.resume();
    },
    async stop() {
      stopListening();
      await Promise.all(controllers.map((c) => c.stop()));
    },
  };
}
