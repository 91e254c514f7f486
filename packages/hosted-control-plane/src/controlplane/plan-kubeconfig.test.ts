import { expect, test } from "vitest";
import { usableKubeconfig } from "./plan-kubeconfig.ts";

const server = "https://10.0.0.1:6443";

test.each<[title: string, written: string | undefined, trusted: string | undefined, isCurrent: boolean | undefined]>([
  ["is current with the one authority that is trusted", "1", "1", true],
  ["is outdated while a second authority is trusted, too", "1", "1,2", false],
  ["is current with both authorities of a rotation", "2,1", "2,1", true],
  ["is outdated after the other authority signs", "1,2", "2,1", false],
  ["counts as none once its issuer is not trusted", "1,2", "2", undefined],
  ["counts as none without an authority", "1", undefined, undefined],
  ["counts as none where there is none", undefined, "1", undefined],
])("a kubeconfig %s", (_title, serials, trustedSerials, isCurrent) => {
  const kubeconfig = serials === undefined ? undefined : { server, renewAt: 5, serials };
  const expected = isCurrent === undefined ? undefined : { server, renewAt: 5, isCurrent };
  expect(usableKubeconfig({ kubeconfig, trustedSerials })).toEqual(expected);
});
