import { checked, flag, object, optional, text } from "../schema/fields.ts";

const label = (description: string) =>
  text(1, 63, { pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", description: `${description} A DNS label.` });

/** Where Argo CD is, and what it does with the add-ons that it is handed. */
export const argoCD = object(
  {
    namespace: label(
      'Namespace of Argo CD in the management cluster. Its label addons.causeway.dev/argo-cd: "true" permits AddonSets to hand over.',
    ),
    project: optional(text(1, 253, { default: "default", description: "The AppProject of the Applications." })),
    selfHeal: optional(flag({ default: true, description: "Argo CD reverts changes that users make." })),
    prune: optional(
      flag({
        default: false,
        description:
          "Argo CD deletes what the repository no longer has, and the objects of an add-on that is removed from the set.",
      }),
    ),
  },
  { description: "Hands add-ons that have an application to Argo CD; the others are applied as usual." },
);

/** The source of one Application of Argo CD. */
export const application = checked(
  object(
    {
      repoURL: text(1, 2048, {
        pattern: "^\\S+$",
        description: "The Git repository, Helm repository or OCI registry, as Argo CD knows it.",
      }),
      targetRevision: optional(
        text(1, 255, { description: "Branch, tag or commit, or the version of the chart. Default HEAD." }),
      ),
      path: optional(
        text(1, 1024, { pattern: "^[^/\\s]\\S*$", description: "Folder in the repository, relative to its root." }),
      ),
      recurse: optional(flag({ description: "Manifests in folders below `path` belong to it, too." })),
      chart: optional(text(1, 253, { description: "Name of a Helm chart, in place of a path." })),
      releaseName: optional(text(1, 53, { description: "Helm: name of the release. Default: the Application's." })),
      values: optional(text(1, 262_144, { description: "Helm: values, in YAML." })),
      namespace: optional(label('Namespace of objects that name none. Default "default".')),
      createNamespace: optional(flag({ description: "Argo CD creates that namespace." })),
    },
    { description: "The add-on is an Application of Argo CD, in place of objects that Causeway applies." },
  ),
  [
    { rule: "has(self.path) != has(self.chart)", message: "an application has a path in a repository or a chart" },
    { rule: "!has(self.chart) || has(self.targetRevision)", message: "a chart needs targetRevision, its version" },
    { rule: "!has(self.recurse) || has(self.path)", message: "recurse is of a path" },
  ],
);
