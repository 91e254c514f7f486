import { X509Certificate } from "node:crypto";
import { isRecord, record, text, texts, type Json } from "../json/json.ts";
import { label1035Faults } from "../syntax/dns.ts";
import { forbiddenField, invalidValue, notSupported, required } from "../errors/problems.ts";
import type { FieldProblem } from "../errors/status.ts";
import { clientConfigProblems } from "../webhooks/client-config.ts";

const FIELD = "spec.conversion";
/** As kube-apiserver names it inside: clients meet these paths in its answers. */
const CONFIG = `${FIELD}.webhookClientConfig`;
const REVIEWS = `${FIELD}.conversionReviewVersions`;
const RECOGNIZED = ["v1", "v1beta1"];

/** What is wrong with `spec.conversion`. `established` and `old` decide what an update may leave as it is. */
export function conversionProblems(spec: Json, old: Json | undefined, established: boolean): FieldProblem[] {
  const conversion = record(spec["conversion"]);
  const strategy = text(conversion["strategy"]);
  const webhook = conversion["webhook"] === undefined ? undefined : record(conversion["webhook"]);
  const config = webhook?.["clientConfig"] === undefined ? undefined : record(webhook["clientConfig"]);
  const reviews = texts(webhook?.["conversionReviewVersions"]);
  if (strategy !== "None" && strategy !== "Webhook") {
    return strategy === ""
      ? [required(`${FIELD}.strategy`)]
      : [notSupported(`${FIELD}.strategy`, strategy, ["None", "Webhook"])];
  }
  if (strategy === "None") {
    const why = "should not be set when strategy is not set to Webhook";
    return [
      ...(config ? [forbiddenField(CONFIG, why)] : []),
      ...(reviews.length > 0 ? [forbiddenField(REVIEWS, why)] : []),
    ];
  }
  const before = record(record(old?.["conversion"])["webhook"]);
  const known = texts(before["conversionReviewVersions"]);
  const mustKnow = known.length === 0 || known.some((v) => RECOGNIZED.includes(v));
  return [
    ...(config
      ? clientConfigProblems(asToldOf(config), CONFIG)
      : [required(CONFIG, "required when strategy is set to Webhook")]),
    ...(established && isAuthority(record(before["clientConfig"])["caBundle"] ?? "") ? authorityProblems(config) : []),
    ...reviewProblems(reviews, mustKnow),
  ];
}

/**
 * kube-apiserver reports a Service's missing name as a missing namespace, and a missing namespace as a missing name.
 */
function asToldOf(config: Json): Json {
  if (!isRecord(config["service"])) return config;
  const { name, namespace, ...rest } = config["service"];
  return { ...config, service: { ...rest, name: namespace, namespace: name } };
}

function reviewProblems(versions: readonly string[], mustKnow: boolean): FieldProblem[] {
  if (versions.length === 0) return [required(REVIEWS)];
  const problems = versions.flatMap((version, i) => {
    if (versions.indexOf(version) < i) return [invalidValue(`${REVIEWS}[${i}]`, version, "duplicate version")];
    return label1035Faults(version).map((why) => invalidValue(`${REVIEWS}[${i}]`, version, why));
  });
  if (!mustKnow || versions.some((v) => RECOGNIZED.includes(v))) return problems;
  return [...problems, invalidValue(REVIEWS, versions, `must include at least one of ${RECOGNIZED.join(", ")}`)];
}

/**
 * An unreadable CA bundle is accepted until the CRD is established, and where the CRD already has an unreadable one.
 */
function authorityProblems(config: Json | undefined): FieldProblem[] {
  const bundle = config?.["caBundle"];
  if (bundle === undefined || isAuthority(bundle)) return [];
  const why = "unable to load root certificates: unable to parse bytes as PEM block";
  return [invalidValue(`${CONFIG}.caBundle`, bundle, why)];
}

function isAuthority(bundle: unknown): boolean {
  const pem = Buffer.from(text(bundle), "base64").toString();
  if (pem.trim() === "") return true;
  try {
    void new X509Certificate(pem);
    return true;
  } catch {
    return false;
  }
}
