/** What tables in a language hold. Six values each; the texts are of different length, as people write them. */
interface Language {
  /** Names of the columns: text, name, address, subject. */
  readonly columns: readonly [text: string, name: string, address: string, subject: string];
  readonly texts: readonly string[];
  readonly names: readonly string[];
  readonly addresses: readonly string[];
  readonly subjects: readonly string[];
  /** Labels of one to four words, which repeat. */
  readonly labels: readonly string[];
}

/** A table per language: text, name, address and subject, and in some rows a label. */
const TABLES = `
# German
Nachricht | Kunde | Anschrift | Betreff
Ich warte seit drei Wochen auf meine Bestellung. | Anna Schmidt | Hauptstraße 5, 10115 Berlin | Frage zu meiner letzten Bestellung | offen
danke, hat alles gut geklappt | Jan van der Berg | Am Markt 12, 50667 Köln | Rückgabe | in Bearbeitung
Geht so. | Dr. Peter Maier | Ringweg 3a, 80331 München | Problem mit der Lieferung | erledigt
Wann bekomme ich endlich mein Geld zurück? Ich habe schon zweimal geschrieben. | Lena Vogt | Seestr. 9, 20095 Hamburg | Lob für den netten Fahrer
ok | Uwe Roth | Bahnhofplatz 1, 04109 Leipzig | Rechnung fehlt noch immer
Der Fahrer war sehr freundlich und pünktlich | Karl Otto Lang | Talweg 77, 70173 Stuttgart | Adresse hat sich geändert

# Vietnamese
bình luận | khách hàng | địa chỉ | chủ đề
Hàng giao chậm quá, gọi mãi không ai nghe máy. | Nguyễn Văn An | 12 Lê Lợi, Quận 1, TP HCM | Hỏi về đơn hàng gần đây | mở
rất hài lòng với sản phẩm này | Trần Thị Bích | 5 Hàng Bài, Hà Nội | Đổi trả | đang xử lý
Tạm được. | Lê Minh Khai | 88 Trần Phú, Đà Nẵng | Hàng bị lỗi khi nhận | đóng
Bao giờ tôi mới nhận được tiền? | Phạm Hoàng | 3 Nguyễn Huệ, Huế | Cảm ơn các bạn rất nhiều
ok | Vũ Đức | 27 Hùng Vương, Cần Thơ | Không đăng nhập được tài khoản
Nhân viên dễ thương nhưng đồ ăn hơi nguội | Đỗ Thị Lan | 9 Bà Triệu, Hà Nội | Sai thông tin trên hóa đơn

# Arabic
الرسالة | العميل | العنوان | الموضوع
لم يصل الطلب حتى الآن ولا أحد يرد على الهاتف. | محمد علي | شارع الملك فهد 12، الرياض | سؤال عن الطلب الأخير الذي أرسلته | مفتوح
كل شيء كان ممتازا وشكرا جزيلا لكم | فاطمة الزهراء | شارع التحرير 5، القاهرة | استرجاع | قيد المعالجة
عادي. | أحمد بن خالد | طريق الشيخ زايد 100، دبي | وصل الطرد مكسورا، ماذا أفعل؟ | مغلق
متى سأسترجع أموالي؟ | ليلى حسن | شارع الحمرا 8، بيروت | شكرا لكم على المساعدة أمس
تمام | عمر فاروق | شارع النيل 3، الخرطوم | لا أستطيع الدخول إلى حسابي الآن
السائق كان مهذبا لكن الطعام وصل باردا | سارة نور | شارع محمد الخامس 20، الرباط | خطأ في الفاتورة.

# Japanese
コメント | 氏名 | 住所 | 件名
注文した商品がまだ届きません。いつになりますか。 | 田中 太郎 | 東京都港区六本木1-2-3 | 先日の注文についての質問です | 未対応
とても良かったのでまた買います | 佐々木 健太郎 | 大阪市北区梅田4-5 | 返品 | 対応中
微妙。 | 鈴木花子 | 京都市中京区8-1 | 届いた荷物が壊れていました | 完了
返金はいつされるのでしょうか？ | 山本 一 | 札幌市中央区北1-3 | 昨日の対応に感謝しています
はい | 高橋 美咲 | 福岡市博多区2-7-9 | ログインができなくて困っています
店員さんは親切でしたが料理が冷めていました | 伊藤 翔 | 名古屋市栄3-5-12 | 請求書の金額が間違っています
`;

function parseTable(table: string): [name: string, language: Language] {
  const [name, columns, ...rows] = table.trim().split('\n');
  const cells = rows.map((row) => row.split(' | '));
  const of = (at: number): string[] => cells.flatMap((row) => row[at] ?? []);
  const titles = columns!.split(' | ') as [string, string, string, string];
  const [texts, names, addresses, subjects, labels] = [of(0), of(1), of(2), of(3), of(4)];
  return [name!, { columns: titles, texts, names, addresses, subjects, labels }];
}

export const LANGUAGES: Readonly<Record<string, Language>> = Object.fromEntries(
  TABLES.split('# ').slice(1).map(parseTable),
);
