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

# Polish
treść | klient | adres | temat
Paczka przyszła uszkodzona i nikt nie odbiera telefonu. | Jan Kowalski | ul. Marszałkowska 12/3, Warszawa | Reklamacja dotycząca ostatniego zamówienia | otwarte
wszystko w porządku, dziękuję bardzo | Anna Nowak | ul. Długa 5, Gdańsk | Zwrot | w toku
Słabo. | Ewa Zielińska | al. Jana Pawła 7, Kraków | Pytanie o termin dostawy paczki | zamknięte
Kiedy dostanę zwrot pieniędzy? | Piotr Lis | Rynek 1, Wrocław | Podziękowania dla całego zespołu
spoko | Olga Wójcik | ul. Polna 22, Poznań | Nie działa moje konto
Obsługa była miła ale czekałem ponad godzinę | Adam Król | ul. Leśna 4, Łódź | Proszę o fakturę za marzec

# Turkish
mesaj | müşteri | adres | konu
Siparişim hâlâ gelmedi ve kimse cevap vermiyor. | Ahmet Yılmaz | Atatürk Cad. 12, İstanbul | Siparişim ile ilgili bir soru | açık
her şey çok güzeldi, teşekkürler | Ayşe Demir | Bağdat Cad. 300, Kadıköy | İade | işlemde
Fena değil. | Mehmet Can Kaya | Kızılay Sok. 4, Ankara | Paket hasarlı olarak geldi bana | kapalı
Param ne zaman iade edilecek? | Elif Ak | Alsancak Mah. 7, İzmir | Ekibinize çok teşekkür ederim
tamam | Deniz Tan | Lale Sok. 9, Bursa | Faturada hata var galiba
Kargo görevlisi çok kaba davrandı bana | Can Er | Çınar Cad. 1, Antalya | Hesabıma bir türlü giremiyorum

# Vietnamese
bình luận | khách hàng | địa chỉ | chủ đề
Hàng giao chậm quá, gọi mãi không ai nghe máy. | Nguyễn Văn An | 12 Lê Lợi, Quận 1, TP HCM | Hỏi về đơn hàng gần đây | mở
rất hài lòng với sản phẩm này | Trần Thị Bích | 5 Hàng Bài, Hà Nội | Đổi trả | đang xử lý
Tạm được. | Lê Minh Khai | 88 Trần Phú, Đà Nẵng | Hàng bị lỗi khi nhận | đóng
Bao giờ tôi mới nhận được tiền? | Phạm Hoàng | 3 Nguyễn Huệ, Huế | Cảm ơn các bạn rất nhiều
ok | Vũ Đức | 27 Hùng Vương, Cần Thơ | Không đăng nhập được tài khoản
Nhân viên dễ thương nhưng đồ ăn hơi nguội | Đỗ Thị Lan | 9 Bà Triệu, Hà Nội | Sai thông tin trên hóa đơn

# Russian
сообщение | клиент | адрес | тема
Посылка пришла вскрытой, деньги не возвращают. | Иван Петров | ул. Ленина, д. 5, Москва | Вопрос по моему последнему заказу | открыт
все отлично, спасибо большое | Анна Каренина | Невский пр., 28, Санкт-Петербург | Возврат | в работе
Так себе. | Олег Сидоров | пр. Мира, 10, Казань | Посылка пришла с браком | закрыт
Почему никто не отвечает на мои письма? | Мария Ким | ул. Садовая, 3, Самара | Благодарность вашему курьеру за помощь
ладно | Пётр Ильич Котов | ул. Лесная, 14, Тула | Не могу войти в кабинет
Курьер опоздал на три часа и нагрубил | Юлия Лис | ул. Новая, 1, Омск | Ошибка в счёте за март

# Arabic
الرسالة | العميل | العنوان | الموضوع
لم يصل الطلب حتى الآن ولا أحد يرد على الهاتف. | محمد علي | شارع الملك فهد 12، الرياض | سؤال عن الطلب الأخير الذي أرسلته | مفتوح
كل شيء كان ممتازا وشكرا جزيلا لكم | فاطمة الزهراء | شارع التحرير 5، القاهرة | استرجاع | قيد المعالجة
عادي. | أحمد بن خالد | طريق الشيخ زايد 100، دبي | وصل الطرد مكسورا، ماذا أفعل؟ | مغلق
متى سأسترجع أموالي؟ | ليلى حسن | شارع الحمرا 8، بيروت | شكرا لكم على المساعدة أمس
تمام | عمر فاروق | شارع النيل 3، الخرطوم | لا أستطيع الدخول إلى حسابي الآن
السائق كان مهذبا لكن الطعام وصل باردا | سارة نور | شارع محمد الخامس 20، الرباط | خطأ في الفاتورة.

# Hindi
संदेश | ग्राहक | पता | विषय
मेरा सामान अभी तक नहीं आया और कोई फोन नहीं उठाता। | राम कुमार | एमजी रोड 12, मुंबई | मेरे पिछले ऑर्डर के बारे में सवाल | खुला
सब कुछ बहुत अच्छा था धन्यवाद | सीता देवी | गांधी मार्ग 5, दिल्ली | वापसी | जारी
ठीक है। | अमित शर्मा | स्टेशन रोड 8, पटना | सामान टूटा हुआ आया, क्या करूँ? | बंद
मेरे पैसे कब वापस मिलेंगे? | पूजा सिंह | लाल बाग 3, इंदौर | आपकी मदद के लिए बहुत धन्यवाद
हाँ | रवि वर्मा | सदर बाजार 20, आगरा | मेरा खाता नहीं खुल रहा है
खाना ठंडा था लेकिन सेवा अच्छी थी | नेहा गुप्ता | झील मार्ग 1, भोपाल | बिल में गलती है।

# Japanese
コメント | 氏名 | 住所 | 件名
注文した商品がまだ届きません。いつになりますか。 | 田中 太郎 | 東京都港区六本木1-2-3 | 先日の注文についての質問です | 未対応
とても良かったのでまた買います | 佐々木 健太郎 | 大阪市北区梅田4-5 | 返品 | 対応中
微妙。 | 鈴木花子 | 京都市中京区8-1 | 届いた荷物が壊れていました | 完了
返金はいつされるのでしょうか？ | 山本 一 | 札幌市中央区北1-3 | 昨日の対応に感謝しています
はい | 高橋 美咲 | 福岡市博多区2-7-9 | ログインができなくて困っています
店員さんは親切でしたが料理が冷めていました | 伊藤 翔 | 名古屋市栄3-5-12 | 請求書の金額が間違っています

# Thai
ข้อความ | ชื่อ | ที่อยู่ | หัวข้อ
สั่งของไปสามอาทิตย์แล้วยังไม่ได้รับเลย โทรไปก็ไม่มีใครรับสาย | สมชาย ใจดี | ถนนสุขุมวิท 21 กรุงเทพ 10110 | สอบถามเรื่องคำสั่งซื้อครั้งล่าสุดของฉัน | เปิด
ของดีมากส่งไวประทับใจสุดๆ จะสั่งอีกแน่นอน | สมหญิง รักไทย | ถนนนิมมาน 5 เชียงใหม่ 50200 | คืนของ | กำลังทำ
เฉยๆ | มานะ ชูใจ | ถนนบีช 9 พัทยา 20150 | ได้รับพัสดุที่แตกเสียหายมาต้องทำยังไง | ปิด
เมื่อไหร่จะได้เงินคืนสักทีคะ รอมานานมากแล้ว | วิชัย สุข | ซอยอารีย์ 4 กรุงเทพ 10400 | ขอบคุณสำหรับความช่วยเหลือเมื่อวานนี้มากๆ
โอเค | นิดา แก้ว | ถนนกลาง 12 ภูเก็ต 83000 | เข้าสู่ระบบบัญชีของตัวเองไม่ได้เลยค่ะ
พนักงานพูดจาไม่ดีเลยแถมอาหารก็เย็นชืด | ปิติ ยินดี | ถนนมิตรภาพ 88 ขอนแก่น 40000 | ยอดเงินในใบเสร็จไม่ถูกต้องช่วยแก้ด้วย
`;

function parseTable(table: string): [name: string, language: Language] {
  const [name, columns, ...rows] = table.trim().split('\n');
  const cells = rows.map((row) => row.split(' | '));
  const column = (at: number): string[] => cells.flatMap((row) => row[at] ?? []);
  return [
    name!,
    {
      columns: columns!.split(' | ') as [string, string, string, string],
      texts: column(0),
      names: column(1),
      addresses: column(2),
      subjects: column(3),
      labels: column(4),
    },
  ];
}

export const LANGUAGES: Readonly<Record<string, Language>> = Object.fromEntries(
  TABLES.split('# ').slice(1).map(parseTable),
);
