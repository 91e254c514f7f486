import { defineConfig } from "vitest/config";
import { shareOf } from "./scripts/share.ts";

/** Files that take seconds on an idle machine: they start several servers, wait, or play many schedules. */
const seconds = [
  "packages/addons/src/faults.test.ts",
  "packages/apiserver/src/flow/noisy.test.ts",
  "packages/apiserver/src/isolation/watchdog.test.ts",
  "packages/apiserver/src/server/unread.test.ts",
  "packages/apiserver/src/server/unread-writes.test.ts",
  "packages/apiserver/src/store/crash.test.ts",
  "packages/cinder-csi/src/bursts.test.ts",
  "packages/cinder-csi/src/schedules.test.ts",
  "packages/cluster-api/src/cluster-api.test.ts",
  "packages/hosted-control-plane/src/pods/migration/migration.test.ts",
  "packages/hosted-control-plane/src/pods/migration/waves.test.ts",
  "packages/magnum-api/src/early-deletion.test.ts",
  "packages/magnum-api/src/failed-step.test.ts",
  "packages/magnum-api/src/keystone-away.test.ts",
  "packages/magnum-api/src/renewals.test.ts",
  "packages/magnum-api/src/replicas.test.ts",
  "packages/magnum-api/src/rights.test.ts",
  "packages/magnum-api/src/row-size.test.ts",
  "packages/magnum-api/src/takeover.test.ts",
  "packages/magnum-api/src/trustees.test.ts",
  "packages/simulator/src/data-path/monitors.test.ts",
  "packages/workload-controllers/src/cronjob/cronjob.test.ts",
  "packages/workload-controllers/src/daemonset/daemonset.test.ts",
  "packages/workload-controllers/src/deployment/deployment.test.ts",
  "packages/workload-controllers/src/endpointslicemirroring/endpointslicemirroring.test.ts",
  "packages/workload-controllers/src/horizontal/horizontal.test.ts",
  "packages/workload-controllers/src/job/job.test.ts",
  "packages/workload-controllers/src/replicaset/replicaset.test.ts",
  "packages/workload-controllers/src/statefulset/statefulset.test.ts",
];

/** What plays a whole flow, or needs processes of its own and real time. `npm test` leaves these files out. */
export const scenarios = [
  ...seconds,
  "packages/*/src/**/scenarios/**/*.test.ts",
  "packages/*/src/**/scenario.test.ts",
  "test/scenarios/**/*.test.ts",
  "test/contracts/kubernetes/causeway-kubectl.test.ts",
];

export default defineConfig({
  test: {
    include: shareOf(scenarios),
    pool: "threads",
    isolate: false,
    // Node runs the sources as it does in use; nothing here needs them transformed, which took up to a third of the
    // time.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    maxWorkers: 2,
    // As in `npm test`. Files that run processes, wait in real time or play many schedules set a limit of their own.
    testTimeout: 60_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: ["default", "./scripts/closing-line-reporter.ts"],
  },
});
