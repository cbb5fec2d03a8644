import { type AppError, refusal } from '../../../domain/errors.ts';

/** Largest JSON text of a response in bytes, where the settings do not say another. */
export const MAX_RESPONSE_BYTES = 16_777_216;

/** SQLSTATE of `operational.refuse_large_response`. */
const TOO_LARGE = 'PL413';
/** SQLSTATE of a text that is larger than PostgreSQL can build (1 GB). */
const PROGRAM_LIMIT_EXCEEDED = '54000';
const REFUSE = 'operational.refuse_large_response';

/**
 * SQL of the rows of `from` in their order, in parentheses: the columns `carried`, and `_json` with the JSON text
 * `json` of each row. The statement ends with an error at the row whose text exceeds `maxBytes`, counted from the first
 * row on, so that PostgreSQL does not build a larger response. `offset 0` makes PostgreSQL build each text once.
 */
export function boundedRows({
  json,
  from,
  carried = [],
  maxBytes,
  isPage,
}: {
  readonly json: string;
  readonly from: string;
  readonly carried?: readonly string[];
  /** A number of bytes, or the placeholder of one. */
  readonly maxBytes: number | string;
  /** Whether the rows are a page, so that the error says how many of them fit. */
  readonly isPage: boolean;
}): string {
  const columns = carried.map((column) => `, ${column}`).join('');
  const texts = `select ${json} as "_json"${columns} from ${from} offset 0`;
  const measured = `select *, sum(octet_length("_json")) over w as "_bytes", count(*) over w as "_place"
    from (${texts}) b window w as (rows unbounded preceding)`;
  return `(select case when "_bytes" <= ${maxBytes} then "_json"
    else ${REFUSE}(${isPage ? '"_place" - 1' : '-1'}) end as "_json"${columns} from (${measured}) b)`;
}

/**
 * As `boundedRows`, with a bound for the text of each row. This costs less than adding up the bytes: where no row
 * exceeds its share of a response, the response is within its bound.
 */
export function boundedEachRow({
  json,
  from,
  carried,
  maxRowBytes,
}: {
  readonly json: string;
  readonly from: string;
  readonly carried: readonly string[];
  readonly maxRowBytes: number;
}): string {
  const columns = carried.map((column) => `, ${column}`).join('');
  return `(select case when octet_length("_json") <= ${maxRowBytes} then "_json"
    else ${REFUSE}(-1) end as "_json"${columns}
    from (select ${json} as "_json"${columns} from ${from} offset 0) b)`;
}

/** SQL of the JSON array of the rows of `from`, in parentheses. The statement ends as that of `boundedRows` does. */
export function boundedArray({
  json,
  from,
  maxBytes,
  isPage,
}: {
  readonly json: string;
  readonly from: string;
  readonly maxBytes: number;
  readonly isPage: boolean;
}): string {
  return `(select '[' || coalesce(string_agg("_json", ','), '') || ']'
    from ${boundedRows({ json, from, maxBytes, isPage })} b)`;
}

/** SQL of a JSON text, in parentheses. The statement ends with an error when the text exceeds `maxBytes`. */
export function boundedText(json: string, maxBytes: number): string {
  return `(select case when octet_length("_json") <= ${maxBytes} then "_json" else ${REFUSE}(-1) end
    from (select ${json} as "_json" offset 0) b)`;
}

/**
 * Runs a read whose statement is bounded.
 * @param parameter the query parameter with which a client makes the response smaller
 * @throws `invalid_query_parameter` naming the parameter, with a hint of what would fit, when the response is too large
 */
export async function refusingLarge<T>(
  { parameter, maxBytes }: { readonly parameter: 'limit' | 'populate'; readonly maxBytes: number },
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const fitting = fittingOf(error);
    throw fitting === undefined ? error : largeResponse({ parameter, maxBytes, fitting });
  }
}

/** The refusal of a response that is too large. `fitting` is the number of entries that fit; -1: unknown. */
function largeResponse({
  parameter,
  maxBytes,
  fitting,
}: {
  readonly parameter: string;
  readonly maxBytes: number;
  readonly fitting: number;
}): AppError {
  const remedy =
    fitting > 0
      ? `limit=${fitting} fits`
      : parameter === 'populate'
        ? 'populate fewer relations or a smaller page'
        : fitting === 0
          ? 'name fewer fields in the parameter fields'
          : 'ask for a smaller page';
  return refusal('invalid_query_parameter', {
    message: `invalid query parameter: ${parameter}`,
    body: { hint: `the response would exceed ${maxBytes} bytes; ${remedy}` },
  });
}

/** Whether the error says that a text of a bounded statement is too large. */
export function isTooLarge(error: unknown): boolean {
  return fittingOf(error) !== undefined;
}

/** The number of entries that fit, if the error says that a response is too large. */
function fittingOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  if (error.code === PROGRAM_LIMIT_EXCEEDED) return -1;
  if (error.code !== TOO_LARGE) return undefined;
  const fitting = 'detail' in error ? Number(error.detail) : -1;
  return Number.isSafeInteger(fitting) ? fitting : -1;
}
