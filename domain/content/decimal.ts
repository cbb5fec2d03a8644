const DECIMAL = /^(-?)(\d{1,1000})(?:\.(\d{1,1000}))?$/;

/** A decimal as it is stored: plain digits, no sign of zero, no leading zeros; the scale stays. @returns undefined when it is none. */
export function parseDecimal(text: string): string | undefined {
  const match = DECIMAL.exec(text);
  if (!match) return undefined;
  const [, sign = '', whole = '', fraction] = match;
  const digits = whole.replace(/^0+(?=\d)/, '');
  const magnitude = fraction === undefined ? digits : `${digits}.${fraction}`;
  return /[1-9]/.test(magnitude) ? sign + magnitude : magnitude;
}

/** Exact comparison of two stored decimals. @returns negative, zero or positive */
export function compareDecimals(a: string, b: string): number {
  const [left, right] = [parts(a), parts(b)];
  if (left.negative !== right.negative) return left.negative ? -1 : 1;
  const width = Math.max(left.fraction.length, right.fraction.length);
  const [x, y] = [scaled(left, width), scaled(right, width)];
  const order = x < y ? -1 : x > y ? 1 : 0;
  return left.negative ? -order : order;
}

/** The same text for equal decimals: `1.50` and `1.5`. */
export function canonicalDecimal(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

type Parts = { readonly negative: boolean; readonly whole: string; readonly fraction: string };

function parts(text: string): Parts {
  const negative = text.startsWith('-');
  const [whole = '0', fraction = ''] = (negative ? text.slice(1) : text).split('.');
  return { negative, whole, fraction };
}

function scaled({ whole, fraction }: Parts, width: number): bigint {
  return BigInt(whole + fraction.padEnd(width, '0'));
}
