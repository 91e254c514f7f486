/*
 * What the packages use of undici, which scripts/bundle.ts puts in its place: an agent and its requests. The whole of
 * it (fetch, WebSockets, caches, mocks) takes 12 MiB of every process that loads it.
 */
import Agent from "undici/lib/dispatcher/agent.js";
import Dispatcher from "undici/lib/dispatcher/dispatcher.js";
import request from "undici/lib/api/api-request.js";

Dispatcher.prototype.request = request;
export { Agent };
