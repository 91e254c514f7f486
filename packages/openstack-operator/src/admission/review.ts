import type { OpenStackDeployment, OpenStackDeploymentSpec } from "@causeway/api";
import { CausewayError, isRecord, shortened } from "@causeway/foundation";
import { resolveCatalogue } from "../catalogue/index.ts";
import type { OptionProblem } from "../config/index.ts";
import { completed } from "../credentials/new-values.ts";
import { optionProblems } from "../render/revisions.ts";

/** What an API server is to send to the webhook, and how it reaches it. */
export interface DeploymentWebhook {
  readonly url?: string;
  readonly service?: { readonly namespace: string; readonly name: string; readonly path: string };
  /** Base64 of PEM. */
  readonly caBundle?: string;
}

/** The webhooks of a ValidatingWebhookConfiguration. */
export function deploymentWebhooks(client: DeploymentWebhook): object[] {
  return [
    {
      name: "validation.openstack.causeway.dev",
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      failurePolicy: "Fail",
      matchPolicy: "Equivalent",
      timeoutSeconds: 10,
      clientConfig: client,
      // A finalizer or a label changes nothing that the rules read, and must not wait for them.
      matchConditions: [{ name: "spec", expression: "request.operation != 'UPDATE' || object.spec != oldObject.spec" }],
      rules: [
        {
          apiGroups: ["openstack.causeway.dev"],
          apiVersions: ["v1alpha1"],
          operations: ["CREATE", "UPDATE"],
          resources: ["openstackdeployments"],
          scope: "Namespaced",
        },
      ],
    },
  ];
}

/**
 * Why a specification is refused: options that its release does not know or whose values it would not take, with their
 * paths and the nearest right ones; components that wait for each other; services without what they need.
 */
export function specRefusals(metadata: OpenStackDeployment["metadata"], spec: OpenStackDeploymentSpec): string[] {
  try {
    const catalogue = resolveCatalogue(spec);
    const credentials = completed({ generation: 0, accounts: [0], values: {} }, catalogue.components);
    const { name, namespace = "" } = metadata;
    const facts = { name, namespace, spec, catalogue, credentials, replicas: () => 1 };
    return optionProblems(facts).map((problem) => `${pathOf(spec, problem)}: ${problem.service}: ${problem.message}`);
  } catch (error) {
    if (error instanceof CausewayError) {
      return [`${PATHS[error.code] ?? "spec.services"}: ${error.message}. ${error.hint ?? ""}`.trim()];
    }
    throw error;
  }
}

/** The fields that these errors are about. */
const PATHS: Readonly<Record<string, string>> = {
  OPENSTACK_SEGMENT_UNREACHABLE: "spec.network.providerNetworks",
  OPENSTACK_CELL_UNKNOWN: "spec.nodeGroups",
};

/** Where in the specification an option is. */
function pathOf({ services = [], nodeGroups }: OpenStackDeploymentSpec, problem: OptionProblem): string {
  const isIt = (each: { readonly section: string; readonly option: string }): boolean =>
    each.section === problem.section && (problem.option === "" || each.option === problem.option);
  for (const [at, { configuration = [] }] of [...nodeGroups.entries()].toReversed()) {
    const of = configuration.findIndex(({ service }) => service === problem.service);
    const index = configuration[of]?.options.findIndex(isIt) ?? -1;
    if (index >= 0) return `spec.nodeGroups[${at}].configuration[${of}].options[${index}]`;
  }
  const at = services.findIndex(({ name }) => name === problem.service);
  const index = services[at]?.configuration?.findIndex(isIt) ?? -1;
  return index >= 0 ? `spec.services[${at}].configuration[${index}]` : "spec.services";
}

/** Most problems of a response: a person corrects a few at a time. */
const MOST = 20;

/** Why a deployment is refused that is written: bounded, and nothing while it is being deleted. */
export function deploymentRefusals({ metadata, spec }: OpenStackDeployment): string[] {
  const problems = metadata.deletionTimestamp === undefined ? specRefusals(metadata, spec) : [];
  return shortened(problems, MOST);
}

/**
 * The response to an AdmissionReview (admission.k8s.io/v1).
 * @throws Error if the body is not an AdmissionReview
 */
export function reviewDeployment(body: unknown): object {
  const request = isRecord(body) && body["kind"] === "AdmissionReview" ? body["request"] : undefined;
  if (!isRecord(request)) throw new Error("the body is not an AdmissionReview of admission.k8s.io/v1");
  const object = request["object"] as OpenStackDeployment | null | undefined;
  const problems = object ? deploymentRefusals(object) : [];
  const message = problems.join("; ");
  const refusal = { allowed: false, status: { status: "Failure", reason: "Invalid", code: 422, message } };
  return {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: { uid: request["uid"], ...(problems.length === 0 ? { allowed: true } : refusal) },
  };
}
