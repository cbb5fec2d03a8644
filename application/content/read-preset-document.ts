import { isRecord } from '../../domain/content/parse-json.ts';
import { parsePreset } from '../../domain/content/parse-preset.ts';
import type { Preset } from '../../domain/content/preset-events.ts';
import { refusal } from '../../domain/errors.ts';
import type { Outbound } from '../ports/outbound.ts';
import { InvalidYaml, parseYaml } from './parse-yaml.ts';

/** A preset, and its address when it was fetched. */
export type PresetDocument = { readonly preset: Preset; readonly sourceUrl: string | undefined };

/** Maximum size of a document in bytes. */
const MAX_BYTES = 1_048_576;
const TIMEOUT_MS = 10_000;

/**
 * Reads the preset of a request body: either `document` (an object, or YAML as text) or `url`.
 * @throws `preset_source_missing`, `preset_source_ambiguous`, `preset_url_refused`, `preset_unreachable`,
 *   `preset_refused`, `preset_schema_refused`; `unavailable` when this process cannot send requests
 */
export async function readPresetDocument(
  { body, signal }: { readonly body: unknown; readonly signal: AbortSignal },
  { outbound }: { readonly outbound: Pick<Outbound, 'send'> },
): Promise<PresetDocument> {
  const { document = null, url = null } = isRecord(body) ? body : {};
  const [hasDocument, hasUrl] = [document !== null && document !== '', url !== null && url !== ''];
  if (hasDocument && hasUrl) throw refusal('preset_source_ambiguous');
  if (hasUrl) {
    if (typeof url !== 'string' || !/^https?:\/\//i.test(url) || !URL.canParse(url))
      throw refusal('preset_url_refused');
    return { preset: parsePreset(await fetchDocument({ url, signal }, { outbound })), sourceUrl: url };
  }
  if (!hasDocument) throw refusal('preset_source_missing');
  return { preset: parsePreset(await readSent(document)), sourceUrl: undefined };
}

async function readSent(document: unknown): Promise<unknown> {
  if (bytesOf(typeof document === 'string' ? document : JSON.stringify(document)) > MAX_BYTES)
    throw refusal('preset_refused', { message: 'the document must not exceed 1 MiB' });
  if (typeof document !== 'string') return document;
  try {
    return await parseYaml(document);
  } catch (error) {
    if (!(error instanceof InvalidYaml)) throw error;
    throw refusal('preset_refused', { message: `the document is not valid YAML: ${error.message}` });
  }
}

/**
 * Errors in a fetched preset are reported in detail. For any other response the error only says that there is no
 * document, so that it reveals nothing about the address.
 */
async function fetchDocument(
  { url, signal }: { readonly url: string; readonly signal: AbortSignal },
  { outbound }: { readonly outbound: Pick<Outbound, 'send'> },
): Promise<unknown> {
  const response = await outbound.send({
    method: 'GET',
    url,
    headers: { accept: 'application/json, application/yaml, text/yaml, */*;q=0.1' },
    maxResponseBytes: MAX_BYTES,
    timeoutMs: TIMEOUT_MS,
    signal,
  });
  if (response.kind === 'local_fault') throw refusal('unavailable');
  if (response.kind !== 'answered' || response.status < 200 || response.status > 299 || response.truncated)
    throw refusal('preset_unreachable');
  const document = await parseYaml(response.body).catch((error: unknown) => {
    if (!(error instanceof InvalidYaml)) throw error;
    return undefined;
  });
  if (!isRecord(document)) throw refusal('preset_unreachable');
  return document;
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
