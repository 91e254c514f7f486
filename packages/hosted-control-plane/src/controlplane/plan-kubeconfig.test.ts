import { expect, test } from "vitest";
import { usableKubeconfig } from "./plan-kubeconfig.ts";

const server = "https://10.0.0.1:6443";

test.each<[title: string, written: string | undefined, trusted: string | undefined, isCurrent: boolean | undefined]>([
  ["is current with the one authority that is trusted", "117", "117", true],
  ["is outdated while a second authority is trusted, too", "117", "117,227", false],
  ["is current with both authorities of a rotation", "227,117", "227,117", true],
  ["is outdated after the other authority signs", "117,227", "227,117", false],
  ["counts as none once its issuer is not trusted", "117,227", "227", undefined],
  ["counts as none without an authority", "117", undefined, undefined],
  ["counts as none where there is none", undefined, "117", undefined],
  ["counts as none where its issuer only begins as one that is trusted", "11", "117", undefined],
])("a kubeconfig %s", (_title, serials, trustedSerials, isCurrent) => {
  const kubeconfig = serials === undefined ? undefined : { server, renewAt: 5, serials };
  const expected = isCurrent === undefined ? undefined : { server, renewAt: 5, isCurrent };
  expect(usableKubeconfig({ kubeconfig, trustedSerials })).toEqual(expected);
});
