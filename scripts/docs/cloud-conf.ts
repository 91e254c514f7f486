import { annotations, settings, type ServiceAnnotation, type Setting } from "@causeway/cloud-controller-manager";
import type { Page } from "./page.ts";
import { table } from "./table.ts";

/** The sections and keys of cloud.conf. */
export function cloudConfPage(): Page {
  const sections = Object.entries(settings).flatMap(([section, keys]) => {
    if (keys === undefined)
      return [`## [${section}]\n\nThe Cinder CSI driver's; the cloud controller does not read it.`];
    const rows = Object.entries(keys).map(([key, setting]) => settingRow(key, setting));
    const name = section === "LoadBalancerClass" ? 'LoadBalancerClass "NAME"' : section;
    return [`## [${name}]\n\n${table(["key", "value", "default", "meaning"], rows)}`];
  });
  const intro =
    "Generated from the table that the program reads. The file is openstack-cloud-controller-manager's; it is read again when it changes.\n" +
    "A key or section that is not here is named in the log, with the nearest known one, and ignored; a value that cannot be read refuses\n" +
    "the file (CLOUD_CONF_INVALID).";
  return { path: "docs/reference/cloud-conf.md", text: `${["# cloud.conf", intro, ...sections].join("\n\n")}\n` };
}

const settingRow = (key: string, setting: Setting) => [
  `\`${key}\``,
  setting.form,
  setting.default ?? "",
  setting.meaning,
];

/** The annotations of Services. */
export function annotationsPage(): Page {
  const all: readonly ServiceAnnotation[] = Object.values(annotations);
  const part = (added: boolean) =>
    table(
      ["annotation", "value", "cloud.conf", "default", "meaning"],
      all.filter((each) => (each.added ?? false) === added).map(annotationRow),
    );
  const text = [
    "# Annotations of Services",
    "Generated from the table that the program reads. An annotation comes before cloud.conf's key, and that before the default. A key of the\n" +
      "prefix `loadbalancer.openstack.org/` that is not here gets the event LoadBalancerAnnotationUnknown, with the nearest known one; a value\n" +
      "that cannot be read gets LoadBalancerAnnotationInvalid, and the default holds. [Services](services.md) says how they act together.",
    "## As openstack-cloud-controller-manager",
    part(false),
    "## Additions",
    part(true),
  ];
  return { path: "docs/reference/annotations.md", text: `${text.join("\n\n")}\n` };
}

function annotationRow(row: ServiceAnnotation): string[] {
  const written = row.written ? " (written by the controller)" : "";
  const form = row.choices ? row.choices.join(", ") : row.form === "flag" ? "true, false" : row.form;
  const otherwise = row.default === undefined ? "" : String(row.default);
  return [`\`${row.key}\``, `${form}${written}`, row.setting ? `\`${row.setting}\`` : "", otherwise, row.meaning];
}
