import { CLASS_ANNOTATION, CLASS_CONTROLLER, CLASS_VALUE } from "../names.ts";
import type { Ingress, IngressClass } from "../objects/ingress.ts";

/** How an Ingress is ours: by the annotation, or by a class of ours. Undefined: it is another controller's. */
export type Claim = { readonly by: "annotation" } | { readonly by: "class"; readonly class: IngressClass };

/** The annotation decides where it is given, as Kubernetes has it. */
export function claimOf(
  { metadata, spec }: Ingress,
  classNamed: (name: string) => IngressClass | undefined,
): Claim | undefined {
  const value = metadata.annotations?.[CLASS_ANNOTATION];
  if (value !== undefined) return value === CLASS_VALUE ? { by: "annotation" } : undefined;
  const found = spec.ingressClassName === undefined ? undefined : classNamed(spec.ingressClassName);
  return found?.spec?.controller === CLASS_CONTROLLER ? { by: "class", class: found } : undefined;
}

/** Whether the Ingress is of this class, of those that `classNamed` knows. */
export function isOfClass(
  ingress: Ingress,
  { metadata }: IngressClass,
  classNamed: (name: string) => IngressClass | undefined,
): boolean {
  const claim = claimOf(ingress, classNamed);
  return claim?.by === "class" && claim.class.metadata.name === metadata.name;
}
