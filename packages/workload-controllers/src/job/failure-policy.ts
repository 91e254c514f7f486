import type { ContainerStatus, Job, Pod, PodFailurePolicyRule } from "@causeway/kubernetes";

/** What a rule of `podFailurePolicy` says about a failed pod. */
export interface Match {
  readonly action: PodFailurePolicyRule["action"];
  /** For FailJob: the message of the condition. */
  readonly message: string;
}

/** The first rule of the Job's pod failure policy that the failed pod meets. */
export function matchFailurePolicy({ spec }: Job, pod: Pod): Match | undefined {
  const name = `${pod.metadata.namespace}/${pod.metadata.name}`;
  for (const [index, rule] of (spec.podFailurePolicy?.rules ?? []).entries()) {
    const { action } = rule;
    const container = rule.onExitCodes && exitedAs(rule.onExitCodes, pod);
    if (container) {
      const code = container.state?.terminated?.exitCode;
      const message = `Container ${container.name} for pod ${name} failed with exit code ${code} matching ${action} rule at index ${index}`;
      return { action, message };
    }
    const condition = rule.onExitCodes ? undefined : conditionOf(rule, pod);
    if (condition)
      return { action, message: `Pod ${name} has condition ${condition} matching ${action} rule at index ${index}` };
  }
  return undefined;
}

function exitedAs(
  { containerName, operator, values }: NonNullable<PodFailurePolicyRule["onExitCodes"]>,
  { status }: Pod,
): ContainerStatus | undefined {
  return [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])].find(({ name, state }) => {
    const code = state?.terminated?.exitCode ?? 0;
    return code !== 0 && (containerName ?? name) === name && values.includes(code) === (operator === "In");
  });
}

function conditionOf({ onPodConditions = [] }: PodFailurePolicyRule, { status }: Pod): string | undefined {
  const isMet = (type: string, value: string) =>
    onPodConditions.some((pattern) => pattern.type === type && (pattern.status ?? "True") === value);
  return status?.conditions?.find((condition) => isMet(condition.type, condition.status))?.type;
}
