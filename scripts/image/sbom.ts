import type { Component } from "./rootfs.ts";

/** The software bill of materials of an image, as SPDX 2.3 in JSON. */
export function spdx(
  components: readonly Component[],
  { version, commit, epoch }: { readonly version: string; readonly commit: string; readonly epoch: number },
): object {
  const packages = components.map(({ name, version: own, from }, i) => ({
    SPDXID: `SPDXRef-Package-${i}`,
    name,
    versionInfo: own,
    downloadLocation: "NOASSERTION",
    filesAnalyzed: false,
    externalRefs: [
      {
        referenceCategory: "PACKAGE-MANAGER",
        referenceType: "purl",
        referenceLocator: `pkg:${from === "debian" ? "deb/debian" : "npm"}/${name.replace("@", "%40")}@${encodeURIComponent(own)}`,
      },
    ],
  }));
  return {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: "SPDXRef-DOCUMENT",
    name: `causeway-${version}`,
    documentNamespace: `urn:causeway:image:${version}:${commit}`,
    creationInfo: { created: new Date(epoch * 1000).toISOString(), creators: ["Tool: causeway-image"] },
    packages,
    relationships: packages.map(({ SPDXID }) => ({
      spdxElementId: "SPDXRef-DOCUMENT",
      relationshipType: "DESCRIBES",
      relatedSpdxElement: SPDXID,
    })),
  };
}
