/** The longer scripts of stock kubectl on our API server: part of `npm run test:scenarios`. */
import { longKubectl } from "./cases/kubectl.ts";
import { startEmbedded } from "./embedded.ts";
import { holdToContract } from "./suite.ts";

holdToContract("causeway", startEmbedded, [longKubectl]);
