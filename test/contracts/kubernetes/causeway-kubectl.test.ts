/** The longer scripts of stock kubectl on our API server: part of `npm run test:scenarios`. */
import { vi } from "vitest";
import { longKubectl } from "./cases/kubectl.ts";
import { startEmbedded } from "./embedded.ts";
import { holdToContract } from "./suite.ts";

// Scripts of kubectl, each of many commands.
vi.setConfig({ testTimeout: 600_000 });

holdToContract("causeway", startEmbedded, [longKubectl]);
