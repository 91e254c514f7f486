import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { TestResult } from "../support/suite-record.ts";

const reference = resolve(import.meta.dirname, "../../docs/reference");
const folder = join(reference, "gateway-conformance");

/** What became of the suite's tests, and when. */
export interface GatewayRecord {
  readonly date: string;
  readonly version: string;
  readonly passed: readonly string[];
  /** By name: what the suite printed. */
  readonly failed: Readonly<Record<string, string>>;
  /** By the feature that is not supported. */
  readonly skipped: Readonly<Record<string, readonly string[]>>;
}

/** People write why: of tests that fail, and of features that are not supported. */
interface Reasons {
  readonly tests: Readonly<Record<string, string>>;
  readonly features: Readonly<Record<string, string>>;
}

export function recordOf(results: readonly TestResult[], version: string): GatewayRecord {
  const skipped: Record<string, string[]> = {};
  for (const { id, status, reason } of results) if (status === "skip") (skipped[reason] ??= []).push(id);
  return {
    date: new Date().toISOString().slice(0, 10),
    version,
    passed: results.flatMap(({ id, status }) => (status === "success" ? id : [])).sort(),
    failed: Object.fromEntries(
      results
        .flatMap(({ id, status, reason }) => (status === "fail" ? [[id, lasting(reason)] as const] : []))
        .sort(byName),
    ),
    skipped: Object.fromEntries(Object.entries(skipped).sort(byName)),
  };
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);

/** Without what differs from run to run. */
function lasting(reason: string): string {
  return reason
    .replaceAll(/\d{4}-\d\d-\d\d[ T][\d:.]+(Z| \+0000 UTC)?/g, "TIME")
    .replaceAll(/127\.88\.\d+\.\d+/g, "ADDRESS");
}

/** Keeps what a whole run found, and writes the page. */
export function keep(record: GatewayRecord): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "results.json"), `${JSON.stringify(record, undefined, 1)}\n`);
  writePage();
}

function read<T>(name: string, otherwise: T): T {
  const file = join(folder, name);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as T) : otherwise;
}

export function writePage(): void {
  const empty: GatewayRecord = { date: "", version: "", passed: [], failed: {}, skipped: {} };
  const record = read<GatewayRecord>("results.json", empty);
  const reasons = read<Reasons>("reasons.json", { tests: {}, features: {} });
  const failed = Object.entries(record.failed);
  const skipped = Object.values(record.skipped).flat();
  const plain = (text: string): string =>
    text
      .replaceAll(/[<>|*_`\\]/g, " ")
      .replaceAll(/\s+/g, " ")
      .trim();
  const lines = [
    "# The Gateway API's conformance suite on Octavia",
    "",
    `The suite of release ${record.version} (profiles GATEWAY-HTTP and GATEWAY-TLS), built from its module, against \`causeway run octavia-ingress\` on the`,
    "embedded API server and the simulated cloud with its data path, by `npm run test:gateway`, which writes this page. The suite's pods are local processes of its own",
    "echo server. Its Services are of type ClusterIP; what plays the pods gives them node ports, as the program's members are node ports.",
    "",
    `Passed: ${record.passed.length}. Failed: ${failed.length}. Skipped, for a feature that the GatewayClass does not claim: ${skipped.length}.`,
    "",
    "## Passed",
    "",
    ...record.passed.map((name) => `- ${name}`),
    "",
    "## Failed",
    "",
    ...failed.map(([name, why]) => `- ${name}: ${reasons.tests[name] ?? plain(why)}`),
    "",
    "## Skipped",
    "",
    ...Object.entries(record.skipped).map(([feature, tests]) => {
      return `- ${feature}${reasons.features[feature] === undefined ? "" : ` (${reasons.features[feature]})`}: ${tests.join(", ")}`;
    }),
  ];
  writeFileSync(join(reference, "gateway-conformance.md"), `${[...lines, ...ingress].join("\n")}\n`);
}

const ingress = [
  "",
  "## Kubernetes' Ingress",
  "",
  "The specs of Kubernetes' e2e suite about Ingress and IngressClass are of the API; they pass on the embedded API server ([e2e-api.md](e2e-api.md)). The module of",
  "kubernetes-sigs/ingress-controller-conformance cannot be built: the Go module proxy does not serve it. Its cases are played with packets in",
  "packages/octavia-ingress/src/scenarios/conformance.test.ts (`npm run test:scenarios`):",
  "",
  "- Path rules, exact, prefix, mixed and with trailing slashes: pass, with 503 in place of 404 for a path that no rule matches.",
  "- Host rules, exact, wildcard of one label, TLS with the Secret's certificate: pass, with 503 in place of 404 for another host. Plain HTTP of an Ingress with TLS is",
  "  refused: its one listener is at port 443, as with the program that this one replaces.",
  "- Default backend, with every method, host and path: pass.",
  "- An Ingress of a class that does not exist gets no address: pass.",
  "- Requests are shared by all members: pass for nodes; the pods behind a node port are kube-proxy's.",
];
